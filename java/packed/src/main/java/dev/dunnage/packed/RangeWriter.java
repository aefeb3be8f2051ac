package dev.dunnage.packed;

import java.util.Arrays;

/** The writer of the range coder: {@code spec/packed.md}, "The range coder". As a sink, it writes parts in bypass bits. */
final class RangeWriter implements Sink {
    /** The range never falls below this between two steps. */
    static final long SMALLEST = 1 << 24;
    static final long WHOLE = 0xffff_ffffL;
    /** The most bits that one step codes. */
    static final int CHUNK = 16;

    private byte[] bytes = new byte[64];
    private int length;
    private long low;
    private long range = WHOLE;

    /** Creates a writer of a message that begins with these bytes. */
    RangeWriter(int... start) {
        for (int b : start) {
            push(b);
        }
    }

    private void push(int b) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * length);
        }
        bytes[length++] = (byte) b;
    }

    /** Raises the lower end. A carry goes to the bytes before it, which cannot overflow, because the interval stays below 1. */
    private void raise(long by) {
        low += by;
        if (low > WHOLE) {
            low &= WHOLE;
            int at = length;
            do {
                at--;
                bytes[at]++;
            } while (bytes[at] == 0);
        }
    }

    /** Writes {@code count} of 2^{@code bits} equal parts of the range, from {@code first} on. */
    void symbol(int bits, long start, long frequency) {
        long unit = range >>> bits;
        raise(unit * start);
        range = unit * frequency;
        while (range < SMALLEST) {
            push((int) (low >>> 24));
            low = low << 8 & WHOLE;
            range <<= 8;
        }
    }

    /** Writes the lowest {@code bits} bits of {@code value}, all equally likely. */
    void bits(long value, int bits) {
        for (int left = bits; left > 0; ) {
            int now = Math.min(left, CHUNK);
            left -= now;
            symbol(now, value >>> left & ((1 << now) - 1), 1);
        }
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public void index(long key, long value, long count) {
        bits(value, Part.indexBits(count));
    }

    @Override
    public void sized(long key, long value) {
        int significant = Math.min(Long.SIZE - Long.numberOfLeadingZeros(value), BitWriter.FULL);
        bits(significant, BitWriter.SIZE_BITS);
        bits(value, significant == BitWriter.FULL ? Long.SIZE : Math.max(significant - 1, 0));
    }

    @Override
    public void raw(long key, long value, int bits) {
        bits(value, bits);
    }

    /** Returns the message. */
    byte[] finish() {
        int count = endBytes(low, range);
        raise(endDistance(low, count));
        for (int i = 0; i < count; i++) {
            push((int) (low >>> (24 - 8 * i)));
        }
        return Arrays.copyOf(bytes, length);
    }

    /** Returns the fewest bytes after which every number is in the interval. The range is at least 2^24, so that two are enough. */
    static int endBytes(long low, long range) {
        int count = 0;
        while (endDistance(low, count) + (1L << (32 - 8 * count)) > range) {
            count++;
        }
        return count;
    }

    /** Returns the distance from {@code low} to the first number with {@code count} bytes. */
    static long endDistance(long low, int count) {
        return -low & ((1L << (32 - 8 * count)) - 1);
    }
}
