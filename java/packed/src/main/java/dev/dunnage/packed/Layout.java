package dev.dunnage.packed;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The bits of the messages of a schema, as {@code dunnage schema layout SCHEMA --json} exports them.
 *
 * <p>A layout encodes and decodes in modes 0 and 1 of {@code spec/packed.md}, with plain and with modelled bodies. It has no deltas. Rules that only
 * restrict, such as {@code uniqueItems}, are not a part of an exported layout and are not checked.
 *
 * <p>A layout does not change; threads may share it.
 */
public final class Layout {
    private static final int VERSION = 1;
    private static final int MAX_SLOT = 63;
    /** The largest message of a plain layout. */
    private static final int MAX_PLAIN_BYTES = 1024;
    /** The same for a layout with a series, which repeats one part many times. */
    private static final int MAX_SERIES_BYTES = 4096;
    private static final int PRIOR = 1;
    private static final int DELTA = 2;

    private final int slot;
    private final boolean hasSlotByte;
    private final String fingerprint;
    private final Node root;
    /** Whether bodies are modelled: a part has no bound, or the largest plain message would have too many bytes. */
    private final boolean isModelled;
    private final int maxBytes;
    /** Null without a check. */
    private final Check check;
    /** Null without statistics. */
    private final Leaves leaves;

    private Layout(Map<?, ?> export) {
        Map<?, ?> packed = exported(export.get("packed"));
        Map<?, ?> canonical = exported(export.get("layout"));
        slot = NodeReader.whole(packed.get("slot"), 1, MAX_SLOT).intValue();
        byte[] hash = sha256(canonical);
        fingerprint = hex(hash);
        if (!fingerprint.equals(packed.get("fingerprint"))) {
            throw new LayoutException("the layout does not have its fingerprint: it was changed after the export");
        }
        requireVersion(canonical);
        hasSlotByte = !canonical.containsKey("slot");
        int checkBytes = canonical.containsKey("check") ? NodeReader.whole(canonical.get("check"), 1, 2).intValue() : 0;
        NodeReader reader = new NodeReader();
        root = reader.node(canonical.get("layout"));
        reader.definitions(canonical.containsKey("definitions") ? canonical.get("definitions") : List.of());
        long bits = root.maxBits();
        long most = (hasSlotByte ? 1 : 0) + (bits + 7) / 8 + checkBytes;
        int limit = reader.hasSeries ? MAX_SERIES_BYTES : MAX_PLAIN_BYTES;
        isModelled = most > limit;
        maxBytes = isModelled ? Limits.MAX_BYTES : (int) most;
        requirePlain(canonical, bits, reader.hasTimes, limit);
        check = checkBytes == 0 ? null : new Check(checkBytes, hash, hasSlotByte ? null : slot);
        leaves = canonical.containsKey("statistics") ? statistics(canonical) : null;
        round(export.get("rounded"), reader.nodes);
    }

    /**
     * Reads a layout that {@code dunnage schema layout SCHEMA --json} printed.
     *
     * @param json the JSON text
     * @return the layout
     * @throws LayoutException if the text is damaged or was changed
     */
    public static Layout parse(String json) {
        return new Layout(exported(Json.parse(json)));
    }

    /** Returns the members of an object around the tree. A schema does not have these objects. */
    private static Map<?, ?> exported(Object json) {
        if (!(json instanceof Map)) {
            throw new LayoutException("not an exported layout: run `dunnage schema layout SCHEMA --json`");
        }
        return (Map<?, ?>) json;
    }

    /** Checks that the layout has what goes with its kind of bodies. */
    private void requirePlain(Map<?, ?> canonical, long bits, boolean hasTimes, int limit) {
        if (!isModelled && hasTimes) {
            throw new LayoutException("not a layout of this version: a plain message has no times in texts without a notation");
        }
        if (isModelled && canonical.containsKey("statistics")) {
            throw new LayoutException("statistics need a largest message of at most " + limit + " bytes");
        }
        if (!hasSlotByte && (isModelled || bits == 0 || canonical.containsKey("statistics"))) {
            throw new LayoutException(
                "a message without a slot byte needs a largest one of at most " + limit + " bytes, a value that takes bits, and no statistics");
        }
    }

    private static void requireVersion(Map<?, ?> canonical) {
        if (!Values.same(canonical.get("packed"), (long) VERSION)) {
            throw new LayoutException("a layout of another version of packed than " + VERSION);
        }
        if (canonical.containsKey("slot") && !"port".equals(canonical.get("slot"))) {
            throw new LayoutException("a slot from something else than the port");
        }
        for (Object member : canonical.keySet()) {
            if (!List.of("packed", "slot", "check", "statistics", "layout", "definitions").contains(member)) {
                throw new LayoutException("a layout with the unknown member \"" + member + "\"");
            }
        }
    }

    private Leaves statistics(Map<?, ?> canonical) {
        Map<Object, Object> untrained = new LinkedHashMap<>(canonical);
        Object text = untrained.remove("statistics");
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(NodeReader.text(text));
        } catch (IllegalArgumentException e) {
            throw new LayoutException("statistics that are not Base64");
        }
        return Statistics.read(bytes, root, sha256(untrained));
    }

    private static void round(Object rounded, List<Node> nodes) {
        if (rounded == null) {
            return;
        }
        if (!(rounded instanceof List)) {
            throw new LayoutException("rounded must be an array of numbers of nodes");
        }
        for (Object number : (List<?>) rounded) {
            Node node = nodes.get(NodeReader.whole(number, 0, nodes.size() - 1).intValue());
            if (!(node instanceof NumbersNode) || !((NumbersNode) node).round()) {
                throw new LayoutException("only numbers with decimals are rounded");
            }
        }
    }

    private static byte[] sha256(Map<?, ?> canonical) {
        StringBuilder text = new StringBuilder();
        Json.write(canonical, text);
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
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

    /** Returns whether messages have a prior form, and devices send deltas. */
    boolean hasStatistics() {
        return leaves != null;
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

    private byte[] write(Object value) {
        byte[] start = hasSlotByte ? new byte[] {(byte) slot} : new byte[0];
        byte[] bytes = isModelled ? writeModelled(value, start) : writePlain(value, start);
        if (leaves != null) {
            RangeWriter coder = new RangeWriter(PRIOR << 6 | slot);
            new Node.Writing(new CodedSink(coder, leaves)).value(root, value, 0);
            byte[] prior = coder.finish();
            bytes = prior.length <= bytes.length ? prior : bytes;
        }
        if (check == null) {
            return bytes;
        }
        byte[] sealed = Arrays.copyOf(bytes, bytes.length + check.bytes);
        System.arraycopy(check.of(bytes, bytes.length), 0, sealed, bytes.length, check.bytes);
        return sealed;
    }

    private byte[] writePlain(Object value, byte[] start) {
        BitWriter plain = new BitWriter(start);
        new Node.Writing(plain).value(root, value, 0);
        return plain.finish();
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
        if (leaves != null && (message[0] & 0xff) >> 6 == PRIOR) {
            RangeReader coder = new RangeReader(message, length, 1);
            Object value = new Node.Reading(new CodedSource(coder, leaves), known).value(root, 0);
            coder.finish();
            return value;
        }
        if (isModelled) {
            return readModelled(message, length, known);
        }
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

    private static void requireSize(int bytes) {
        if (bytes > Limits.MAX_BYTES) {
            throw new PackedException(Kind.LIMIT, Limits.MAX_BYTES, "a message of " + bytes + " bytes");
        }
    }

    /** Checks the size of a message and its slot byte. */
    private void requireStart(byte[] message) {
        requireSize(message.length);
        if (hasSlotByte) {
            int given = slotOf(message, leaves != null);
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
        int mode = (message[0] & 0xff) >> 6;
        int slot = message[0] & MAX_SLOT;
        if (mode > DELTA) {
            throw new PackedException(Kind.MALFORMED, 0, "mode 3 is reserved");
        }
        if (mode > 0 && !hasStatistics) {
            throw new PackedException(Kind.MALFORMED, 0, "mode " + mode + ", but the schema has no x-dunnage-statistics");
        }
        if (mode == DELTA) {
            throw new PackedException(Kind.REFERENCE, 0, "a delta, which needs the message that it refers to; this library has no deltas");
        }
        if (slot == 0) {
            throw new PackedException(Kind.MALFORMED, 0, "slot 0 has no layout");
        }
        return slot;
    }
}
