package dev.dunnage.packed;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The bits of the messages of a schema, as {@code dunnage schema layout SCHEMA --json} exports them.
 *
 * <p>A layout encodes and decodes in the modes of {@code spec/packed.md}, with plain, coded and modelled bodies. Rules that only restrict, such as
 * {@code uniqueItems}, are not a part of an exported layout and are not checked.
 *
 * <p>A layout does not change; threads may share it.
 */
public final class Layout {
    static final int MAX_SLOT = 63;
    /** The largest message of a plain layout. */
    private static final int MAX_PLAIN_BYTES = 1024;
    /** The same for a layout with a series, which repeats one part many times. */
    private static final int MAX_SERIES_BYTES = 4096;

    private final int slot;
    private final boolean hasSlotByte;
    private final String fingerprint;
    private final Node root;
    /** The ranks of the properties that a writer may leave out. */
    private final Collection<Integer> ranks;
    /** Whether bodies are modelled: a part has no bound, or the largest plain message would have too many bytes. */
    private final boolean isModelled;
    private final int maxBytes;
    /** Null without a check. */
    private final Check check;
    /** Null without statistics. */
    private final Trained trained;

    private Layout(Export export) {
        slot = export.slot;
        fingerprint = export.fingerprint;
        hasSlotByte = export.hasSlotByte;
        ranks = export.ranks.values();
        NodeReader reader = new NodeReader(export.ranks);
        root = reader.node(export.tree);
        reader.definitions(export.definitions);
        long bits = root.maxBits();
        long most = (hasSlotByte ? 1 : 0) + (bits + 7) / 8 + export.checkBytes;
        int limit = reader.hasSeries ? MAX_SERIES_BYTES : MAX_PLAIN_BYTES;
        isModelled = most > limit;
        maxBytes = isModelled ? Limits.MAX_BYTES : (int) most;
        requirePlain(export, bits, reader.hasTimes, limit);
        check = export.checkBytes == 0 ? null : new Check(export.checkBytes, export.hash, hasSlotByte ? null : slot);
        trained = export.hasStatistics ? new Trained(root, slot, export.statistics(root), export.hash) : null;
        export.round(reader.nodes);
    }

    /**
     * Reads a layout that {@code dunnage schema layout SCHEMA --json} printed.
     *
     * @param json the JSON text
     * @return the layout
     * @throws LayoutException if the text is damaged or was changed
     */
    public static Layout parse(String json) {
        return new Layout(new Export(Json.parse(json)));
    }

    /** Checks that the layout has what goes with its kind of bodies. */
    private void requirePlain(Export export, long bits, boolean hasTimes, int limit) {
        if (!isModelled && hasTimes) {
            throw new LayoutException("not a layout of this version: a plain message has no times in texts without a notation");
        }
        if (isModelled && export.hasStatistics) {
            throw new LayoutException("statistics need a largest message of at most " + limit + " bytes");
        }
        if (!hasSlotByte && (isModelled || bits == 0 || export.hasStatistics)) {
            throw new LayoutException(
                "a message without a slot byte needs a largest one of at most " + limit + " bytes, a value that takes bits, and no statistics");
        }
    }

    /**
     * Returns the slot, which is in the first byte of each message, or is the port of the link.
     *
     * @return the slot, 1 to 63
     */
    public int slot() {
        return slot;
    }

    /**
     * Returns whether messages begin with a slot byte. Otherwise the slot is the port of the link.
     *
     * @return false if the schema has {@code "x-dunnage-slot-from": "port"}
     */
    public boolean hasSlotByte() {
        return hasSlotByte;
    }

    /**
     * Returns the fingerprint, which identifies the layout.
     *
     * @return 64 hexadecimal digits in lower case
     */
    public String fingerprint() {
        return fingerprint;
    }

    /**
     * Returns the size of the largest message.
     *
     * @return the size in bytes, slot byte and check included; 1 MiB, the limit of all messages, if the schema leaves it open or it is above 1,024 bytes,
     *     4,096 with a series
     */
    public int maxBytes() {
        return maxBytes;
    }

    /**
     * Returns whether the schema has statistics, so that messages have a prior form and devices may send deltas.
     *
     * @return true if the layout has references
     */
    public boolean hasStatistics() {
        return trained != null;
    }

    /**
     * Encodes a message in the shortest form that needs no reference.
     *
     * @param message null, Boolean, String, a number, byte[], or a List or Map of these. Byte, Short, Integer, Long, BigInteger, Float, Double and
     *     BigDecimal are numbers; a Float is the number that it holds exactly
     * @return the bytes
     * @throws PackedException if the layout does not have the message
     */
    public byte[] encode(Object message) {
        try {
            return write(Values.of(message));
        } catch (PackedException e) {
            throw e.withoutOffset();
        }
    }

    /**
     * Encodes as much of a message as {@code limit} bytes hold: all of it, or else fewer readings of its series ({@code x-dunnage-series}), the first ones.
     * Only if not even one reading fits, properties with {@code x-dunnage-drop} are left out, those of the highest rank first.
     *
     * @param message the message, as {@link #encode} takes it
     * @param limit the most bytes
     * @return the bytes, and what is in them
     * @throws PackedException if the layout does not have the message; {@code limit} if its smallest form is larger
     */
    public Fit encodeFit(Object message, int limit) {
        try {
            return new Fitting(root, Values.of(message), limit, this::write).fit(ranks);
        } catch (PackedException e) {
            throw e.withoutOffset();
        }
    }

    /**
     * Returns the properties with {@code x-dunnage-drop} that a message, or one of its readings, does not have. A receiver takes them as left out.
     *
     * @param message the message, as {@link #encode} takes it
     * @return their paths: {@code position.hdop}, {@code readings[].humidity}
     */
    public List<String> leftOut(Object message) {
        return Fitting.absent(root, Values.of(message));
    }

    private byte[] write(Object value) {
        byte[] start = hasSlotByte ? new byte[] {(byte) slot} : new byte[0];
        byte[] bytes = isModelled ? writeModelled(value, start) : BitWriter.message(root, value, start);
        if (trained != null) {
            byte[] prior = trained.prior(value);
            bytes = prior.length <= bytes.length ? prior : bytes;
        }
        if (check == null) {
            return bytes;
        }
        byte[] sealed = Arrays.copyOf(bytes, bytes.length + check.bytes);
        System.arraycopy(check.of(bytes, bytes.length), 0, sealed, bytes.length, check.bytes);
        return sealed;
    }

    private byte[] writeModelled(Object value, byte[] start) {
        Model model = Model.primed();
        try {
            ModelledSink sink = new ModelledSink(model, start);
            new Node.Writing(sink).value(root, value, 0);
            byte[] message = sink.finish();
            requireSize(message.length + (check == null ? 0 : check.bytes));
            return message;
        } finally {
            Model.release(model);
        }
    }

    /**
     * Decodes a message whose layout has no texts that the receiver knows.
     *
     * @param message the bytes
     * @return the value: null, Boolean, String, Long, BigInteger from 2^63 on, Double, byte[] where the schema allows anything, or a List or Map of
     *     these. A Map has the order of the message if the layout is modelled, otherwise that of the schema
     * @throws PackedException if the bytes are not a message of the layout
     */
    public Object decode(byte[] message) {
        return decode(message, Map.of());
    }

    /**
     * Decodes a message.
     *
     * @param message the bytes, without a slot byte if the slot is the port
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the value, as {@link #decode(byte[])} returns it
     * @throws PackedException if the bytes are not a message of the layout
     */
    public Object decode(byte[] message, Map<String, String> known) {
        requireStart(message);
        if (check == null) {
            return read(message, message.length, known);
        }
        int end = message.length - check.bytes;
        if (end <= 0) {
            throw new PackedException(Kind.TRUNCATED, message.length, "the message ends before its check");
        }
        Object value = null;
        PackedException error = null;
        try {
            value = read(message, end, known);
        } catch (PackedException e) {
            error = e;
        }
        // The check of a truncated message does not match either, so truncation is reported first.
        if (error != null && error.kind() == Kind.TRUNCATED) {
            throw new PackedException(Kind.TRUNCATED, message.length, "the message ends before its layout and check do");
        }
        if (!Arrays.equals(check.of(message, end), Arrays.copyOfRange(message, end, message.length))) {
            throw new PackedException(Kind.MALFORMED, end, "the check does not match: the message is damaged, or of another schema");
        }
        if (error != null) {
            throw error;
        }
        return value;
    }

    private Object read(byte[] message, int length, Map<String, String> known) {
        if (trained != null && mode(message) == Trained.PRIOR) {
            return trained.readPrior(message, length, known);
        }
        if (isModelled) {
            return readModelled(message, length, known);
        }
        return readPlain(message, length, known);
    }

    private Object readPlain(byte[] message, int length, Map<String, String> known) {
        BitReader reader = new BitReader(message, length, hasSlotByte ? 1 : 0);
        Object value = new Node.Reading(reader, known).value(root, 0);
        reader.finish();
        return value;
    }

    private Object readModelled(byte[] message, int length, Map<String, String> known) {
        Model model = Model.primed();
        try {
            ModelledSource source = new ModelledSource(model, message, length, 1);
            Object value = new Node.Reading(source, known).value(root, 0);
            source.finish();
            return value;
        } finally {
            Model.release(model);
        }
    }

    /**
     * Returns whether a message of a layout with a slot byte is a delta, which {@link #decodeDelta} decodes.
     *
     * @param message the bytes
     * @return true if its mode is 2
     */
    public static boolean isDelta(byte[] message) {
        return message.length > 0 && mode(message) == Trained.DELTA;
    }

    private static int mode(byte[] message) {
        return (message[0] & 0xff) >> 6;
    }

    private Trained trained() {
        if (trained == null) {
            throw new PackedException(Kind.MALFORMED, 0, "the schema has no x-dunnage-statistics, which deltas need");
        }
        return trained;
    }

    /**
     * Returns a message as the reference of deltas.
     *
     * @param message the message, as {@link #encode} takes it
     * @return the reference
     * @throws PackedException if the layout does not have the message, or has no statistics
     */
    public Reference reference(Object message) {
        try {
            return trained().reference(Values.of(message));
        } catch (PackedException e) {
            throw e.withoutOffset();
        }
    }

    /**
     * Restores a reference from {@link Reference#plain}.
     *
     * @param plain the bytes
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the reference
     * @throws PackedException if the bytes are not a message of the layout in mode 0 without a check, or the layout has no statistics
     */
    public Reference referenceFrom(byte[] plain, Map<String, String> known) {
        Trained with = trained();
        requireStart(plain);
        if (mode(plain) != 0) {
            throw new PackedException(Kind.MALFORMED, 0, "a reference is kept in mode 0");
        }
        return with.reference(readPlain(plain, plain.length, known));
    }

    /**
     * Encodes a message as a delta. It may be longer than what {@link #encode} returns.
     *
     * @param message the message, as {@link #encode} takes it
     * @param reference a message that the receiver has acknowledged
     * @return the bytes
     * @throws PackedException if the layout does not have the message, or has no statistics
     * @throws IllegalArgumentException if the reference is of another layout
     */
    public byte[] encodeDelta(Object message, Reference reference) {
        try {
            return trained().delta(Values.of(message), reference);
        } catch (PackedException e) {
            throw e.withoutOffset();
        }
    }

    /**
     * Decodes a delta. At most 8 references are tried whose name ends in the delta's tag.
     *
     * @param message the bytes
     * @param references messages of the device, from the latest to the one to which a delta last referred; older ones, which only a delta that was
     *     overtaken needs, are for a second call after the error {@code reference}
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the message
     * @throws PackedException if the bytes are not a delta; {@code reference} if none of the references gives a message of the delta's name, or two give
     *     different ones. Such a message must not be acknowledged
     * @throws IllegalArgumentException if a reference is of another layout
     */
    public Decoded decodeDelta(byte[] message, Iterable<Reference> references, Map<String, String> known) {
        requireSize(message.length);
        if (message.length > 0 && !isDelta(message)) {
            throw new PackedException(Kind.MALFORMED, 0, "not a delta");
        }
        return trained().decode(message, references, known);
    }

    private static void requireSize(int bytes) {
        if (bytes > Limits.MAX_BYTES) {
            throw new PackedException(Kind.LIMIT, Limits.MAX_BYTES, "a message of " + bytes + " bytes");
        }
    }

    /** Checks the size of a message and its slot byte. */
    private void requireStart(byte[] message) {
        requireSize(message.length);
        if (hasSlotByte) {
            int given = slotOf(message, trained != null);
            if (given != slot) {
                throw new PackedException(Kind.RANGE, 0, "slot " + given + "; the layout's is " + slot);
            }
        }
    }

    /** Returns the slot of a message in mode 0 or 1. Other messages are errors. */
    static int slotOf(byte[] message, boolean hasStatistics) {
        if (message.length == 0) {
            throw new PackedException(Kind.TRUNCATED, 0, "no bytes, not even the slot byte");
        }
        int mode = mode(message);
        int slot = message[0] & MAX_SLOT;
        if (mode > Trained.DELTA) {
            throw new PackedException(Kind.MALFORMED, 0, "mode 3 is reserved");
        }
        if (mode > 0 && !hasStatistics) {
            throw new PackedException(Kind.MALFORMED, 0, "mode " + mode + ", but the schema has no x-dunnage-statistics");
        }
        if (mode == Trained.DELTA) {
            throw new PackedException(Kind.REFERENCE, 0, "a delta, which needs the message that it refers to: Layout.decodeDelta");
        }
        if (slot == 0) {
            throw new PackedException(Kind.MALFORMED, 0, "slot 0 has no layout");
        }
        return slot;
    }
}
