package dev.dunnage.packed;

/** Reads plain bits. */
final class BitReader implements Source {
    private final byte[] bytes;
    /** The number of bytes that belong to the message. */
    private final int length;
    private long bit;

    /** Creates a reader of the first {@code length} bytes that begins at byte {@code start}. */
    BitReader(byte[] bytes, int length, int start) {
        this.bytes = bytes;
        this.length = length;
        bit = 8L * start;
    }

    private long take(int bits) {
        if (bit + bits > 8L * length) {
            throw Source.truncated(length);
        }
        long value = 0;
        int left = bits;
        while (left > 0) {
            int there = 8 - (int) (bit & 7);
            int now = Math.min(there, left);
            value = value << now | (bytes[offset()] & 0xff) >> (there - now) & ((1 << now) - 1);
            bit += now;
            left -= now;
        }
        return value;
    }

    /** Checks that zeros fill the last byte, and that no bytes follow it. */
    void finish() {
        int offset = offset();
        if (take((int) (-bit & 7)) != 0) {
            throw new PackedException(Kind.MALFORMED, offset, "the bits that fill the last byte are not 0");
        }
        if (offset() < length) {
            throw new PackedException(Kind.MALFORMED, offset(), "bytes behind the message: " + (length - offset()));
        }
    }

    @Override
    public Body body() {
        return Body.PLAIN;
    }

    @Override
    public long index(long key, long count) {
        int offset = offset();
        long value = take(Part.indexBits(count));
        if (value >= count) {
            throw new PackedException(Kind.RANGE, offset, value + " is not below " + count);
        }
        return value;
    }

    @Override
    public long sized(long key) {
        int offset = offset();
        int size = (int) take(BitWriter.SIZE_BITS);
        return sized(size, size == 0 ? 0 : take(size == BitWriter.FULL ? Long.SIZE : size - 1), offset);
    }

    /** Returns the number whose size and further bits were read from {@code offset} on. */
    static long sized(int size, long rest, int offset) {
        if (size == BitWriter.FULL && rest >>> (BitWriter.FULL - 1) == 0) {
            throw new PackedException(Kind.MALFORMED, offset, "a number with more bits than it needs");
        }
        return size == 0 ? 0 : size == BitWriter.FULL ? rest : 1L << (size - 1) | rest;
    }

    @Override
    public long raw(long key, int bits) {
        return take(bits);
    }

    @Override
    public int offset() {
        return (int) (bit / 8);
    }
}
