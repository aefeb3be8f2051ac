package dev.dunnage.packed;

import java.util.Arrays;

/** Appends decisions to the bytes of a message. */
final class DecisionWriter implements DecisionCoder {
    private final Interval interval = new Interval();
    private byte[] bytes = new byte[256];
    private int size;

    /** Creates a writer of a message that begins with these bytes. */
    DecisionWriter(byte[] start) {
        for (byte b : start) {
            append(b);
        }
    }

    private void append(int value) {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * size);
        }
        bytes[size++] = (byte) value;
    }

    @Override
    public int code(int bit, int p) {
        interval.narrow(interval.split(p), bit);
        for (int next = interval.shift(); next >= 0; next = interval.shift()) {
            append(next);
        }
        return bit;
    }

    @Override
    public int offset() {
        return 0;
    }

    /** Writes the last bytes. Returns the message. */
    byte[] finish() {
        for (byte b : interval.lastBytes()) {
            append(b);
        }
        return Arrays.copyOf(bytes, size);
    }
}
