package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The messages of a layout with statistics: the prior form, and deltas. {@code spec/packed.md}, "Coded bodies". */
final class Trained {
    /** The modes of messages, in the two highest bits of the first byte. */
    static final int PRIOR = 1;
    static final int DELTA = 2;
    /** The bits of the first byte of a delta that are those of the reference's name. */
    private static final int TAG = 0x3f;
    private static final int NAME_BYTES = 2;
    /** The first byte and the name, which come before the body of a delta. */
    private static final int HEADER = 1 + NAME_BYTES;
    /** The most references that are tried for one message. */
    private static final int MAX_TRIALS = 8;

    private final Node root;
    private final int slot;
    private final Leaves leaves;
    private final byte[] fingerprint;
    /** The CRC that names a message. */
    private final Check name;

    Trained(Node root, int slot, Leaves leaves, byte[] fingerprint) {
        this.root = root;
        this.slot = slot;
        this.leaves = leaves;
        this.fingerprint = fingerprint;
        name = new Check(NAME_BYTES, fingerprint, null);
    }

    /** Returns a message in the prior form, without its check. */
    byte[] prior(Object value) {
        return write(value, null, PRIOR << 6 | slot);
    }

    private byte[] write(Object value, Parts reference, int... start) {
        RangeWriter coder = new RangeWriter(start);
        new Node.Writing(new CodedSink(coder, leaves, reference)).value(root, value, 0);
        return coder.finish();
    }

    /** Reads the first {@code length} bytes of a message as one in the prior form. */
    Object readPrior(byte[] message, int length, Map<String, String> known) {
        return read(message, length, null, 1, known);
    }

    private Object read(byte[] message, int length, Parts reference, int start, Map<String, String> known) {
        RangeReader coder = new RangeReader(message, length, start);
        Object value = new Node.Reading(new CodedSource(coder, leaves, reference), known).value(root, 0);
        coder.finish();
        return value;
    }

    private byte[] plain(Object value) {
        return BitWriter.message(root, value, (byte) slot);
    }

    private int name(byte[] plain) {
        byte[] crc = name.of(plain, plain.length);
        return (crc[0] & 0xff) << 8 | crc[1] & 0xff;
    }

    Reference reference(Object value) {
        return reference(value, plain(value));
    }

    private Reference reference(Object value, byte[] plain) {
        Parts parts = new Parts();
        new Node.Writing(parts).value(root, value, 0);
        return new Reference(fingerprint, name(plain), plain, parts);
    }

    byte[] delta(Object value, Reference reference) {
        Parts parts = parts(reference);
        int name = name(plain(value));
        return write(value, parts, DELTA << 6 | reference.name() & TAG, name >> 8, name & 0xff);
    }

    private Parts parts(Reference reference) {
        if (!Arrays.equals(fingerprint, reference.fingerprint)) {
            throw new IllegalArgumentException("a reference of another layout");
        }
        return reference.parts;
    }

    /** Decodes a delta against the one of the references that gives a message of the delta's name. */
    Decoded decode(byte[] message, Iterable<Reference> references, Map<String, String> known) {
        if (message.length < HEADER) {
            throw new PackedException(Kind.TRUNCATED, message.length, "a delta has a name of " + NAME_BYTES + " bytes");
        }
        Decoded found = null;
        List<byte[]> tried = new ArrayList<>();
        for (Reference used : references) {
            Parts parts = parts(used);
            // A message that a device repeats must not use up the trials.
            boolean isOther = (used.name() & TAG) == (message[0] & TAG) && tried.stream().noneMatch(plain -> Arrays.equals(plain, used.plain));
            if (!isOther || tried.size() == MAX_TRIALS) {
                continue;
            }
            tried.add(used.plain);
            Decoded decoded = against(message, used, parts, known);
            if (found != null && decoded != null && !Arrays.equals(found.reference().plain, decoded.reference().plain)) {
                throw new PackedException(Kind.REFERENCE, 0, "two references give different messages");
            }
            found = found == null ? decoded : found;
        }
        if (found == null) {
            throw new PackedException(Kind.REFERENCE, 0, "the message that the delta refers to is not known");
        }
        return found;
    }

    /** Returns what a delta is against a reference, or null if the delta refers to another one. */
    private Decoded against(byte[] message, Reference used, Parts parts, Map<String, String> known) {
        try {
            Object value = read(message, message.length, parts, HEADER, known);
            byte[] plain = plain(value);
            boolean isNamed = name(plain) == ((message[1] & 0xff) << 8 | message[2] & 0xff);
            return isNamed ? new Decoded(value, reference(value, plain), used.name()) : null;
        } catch (PackedException e) {
            return null;
        }
    }
}
