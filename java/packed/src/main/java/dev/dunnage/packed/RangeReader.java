package dev.dunnage.packed;

/** The reader of the range coder. As a source, it reads parts in bypass bits. */
final class RangeReader implements Source {
    private final byte[] bytes;
    /** The number of bytes that belong to the message. */
    private final int length;
    private long low;
    private long range = RangeWriter.WHOLE;
    /** The next four bytes as a number, minus {@code low}. Bytes after the end of the message count as 0. */
    private long above;
    /** The bits of those four bytes that are after the end of the message. */
    private long unknown;
    /** The first byte that is not one of those four. */
    private int next;
    private long unit;

    /** Creates a reader of the first {@code length} bytes that begins at byte {@code start}. */
    RangeReader(byte[] bytes, int length, int start) {
        this.bytes = bytes;
        this.length = length;
        next = start;
        for (int i = 0; i < 4; i++) {
            load();
        }
    }

    private void load() {
        boolean there = next < length;
        above = (above << 8 | (there ? bytes[next] & 0xff : 0)) & RangeWriter.WHOLE;
        unknown = (unknown << 8 | (there ? 0 : 0xff)) & RangeWriter.WHOLE;
        next++;
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public long index(long key, long count) {
        int offset = offset();
        return Coded.within(bits(Part.indexBits(count)), count, offset);
    }

    @Override
    public long sized(long key) {
        int offset = offset();
        int size = (int) bits(BitWriter.SIZE_BITS);
        return BitReader.sized(size, bits(size == BitWriter.FULL ? Long.SIZE : Math.max(size - 1, 0)), offset);
    }

    @Override
    public long raw(long key, int bits) {
        return bits(bits);
    }

    @Override
    public int offset() {
        return Math.min(next - 4, length);
    }

    /** Returns the next of 2^{@code bits} equal parts of the range. {@link #take} must follow. */
    int part(int bits) {
        unit = range >>> bits;
        long part = above / unit;
        if (part >>> bits != 0) {
            throw new PackedException(Kind.MALFORMED, offset(), "a number beyond the range of the coder");
        }
        return (int) part;
    }

    /** Takes {@code count} parts from {@code first} on, which contain the one that was read. */
    void take(long first, long count) {
        // Bytes that are missing decide between these parts and others.
        if (above + unknown >= unit * (first + count)) {
            throw Source.truncated(length);
        }
        above -= unit * first;
        low = low + unit * first & RangeWriter.WHOLE;
        range = unit * count;
        while (range < RangeWriter.SMALLEST) {
            low = low << 8 & RangeWriter.WHOLE;
            range <<= 8;
            load();
        }
    }

    /** Reads {@code bits} bits, all equally likely. */
    long bits(int bits) {
        long value = 0;
        for (int left = bits; left > 0; ) {
            int now = Math.min(left, RangeWriter.CHUNK);
            left -= now;
            int part = part(now);
            take(part, 1);
            value = value << now | part;
        }
        return value;
    }

    /** Checks that the message ends here, with the bytes that a writer would have written. */
    void finish() {
        int start = next - 4;
        int left = Math.max(length - start, 0);
        int count = RangeWriter.endBytes(low, range);
        if (left < count) {
            throw Source.truncated(length);
        }
        if (left > count) {
            throw new PackedException(Kind.MALFORMED, start + count, "bytes after the end of the message");
        }
        if (above != RangeWriter.endDistance(low, count)) {
            throw new PackedException(Kind.MALFORMED, offset(), "the last bytes are not those of this message");
        }
    }
}
