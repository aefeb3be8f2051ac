package dev.dunnage.packed;

/** Reads decisions. */
final class DecisionReader implements DecisionCoder {
    private final Interval interval = new Interval();
    private final byte[] bytes;
    private final int length;
    /** The first byte that the interval still covers. */
    private int offset;
    /** The four bytes from {@code offset} on, with zeros behind the end of the message. */
    private int window;
    /** The bits of {@code window} that are behind the end of the message. */
    private int unknown;

    /** Creates a reader of the first {@code length} bytes that begins at byte {@code start}. */
    DecisionReader(byte[] bytes, int length, int start) {
        this.bytes = bytes;
        this.length = length;
        offset = start;
        for (int at = start; at < start + 4; at++) {
            load(at);
        }
    }

    private void load(int at) {
        window = window << 8 | (at < length ? bytes[at] & 0xff : 0);
        unknown = unknown << 8 | (at < length ? 0 : 0xff);
    }

    @Override
    public int code(int ignored, int p) {
        int split = interval.split(p);
        int bit = Integer.compareUnsigned(window, split) <= 0 ? 1 : 0;
        // The decision depends on bits behind the end of the message, so bytes are missing.
        if (bit == 1 && Integer.compareUnsigned(window | unknown, split) > 0) {
            throw Source.truncated(length);
        }
        interval.narrow(split, bit);
        while (interval.shift() >= 0) {
            load(offset + 4);
            offset++;
        }
        return bit;
    }

    @Override
    public int offset() {
        return Math.min(offset, length);
    }

    /** Checks that the message ends here, with the bytes that a writer writes. */
    void finish() {
        byte[] last = interval.lastBytes();
        int rest = Math.max(length - offset, 0);
        int same = 0;
        while (same < Math.min(rest, last.length) && bytes[offset + same] == last[same]) {
            same++;
        }
        if (same == rest && rest < last.length) {
            throw Source.truncated(length);
        }
        if (same < rest) {
            throw new PackedException(Kind.MALFORMED, offset + same, "the last bytes are not those of this message");
        }
    }
}
