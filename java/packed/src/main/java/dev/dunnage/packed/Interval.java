package dev.dunnage.packed;

/**
 * The numbers between 0 and 1 that are still possible in a modelled body. The bytes so far are their first digits; {@code low} and {@code high}, both
 * inclusive and unsigned, are the next 32 bits.
 */
final class Interval {
    private static final long UNSIGNED = 0xffff_ffffL;

    private int low;
    private int high = -1;

    /** Returns the last number of the part for the decision 1. */
    int split(int p) {
        int range = high - low;
        return low + (range >>> 16) * p + ((range & 0xffff) * p >>> 16);
    }

    void narrow(int split, int bit) {
        if (bit == 1) {
            high = split;
        } else {
            low = split + 1;
        }
    }

    /** Returns the next byte once it is the same for all numbers, and drops it. Until then, it returns -1. */
    int shift() {
        if ((low ^ high) >>> 24 != 0) {
            return -1;
        }
        int next = low >>> 24;
        low <<= 8;
        high = high << 8 | 0xff;
        return next;
    }

    /** Returns the fewest bytes behind which every number is in the interval, and the first such bytes if there are several. */
    byte[] lastBytes() {
        int count = 0;
        long first = 0;
        for (; count <= 4; count++) {
            long unit = 1L << (32 - 8 * count);
            first = ((low & UNSIGNED) + unit - 1) / unit * unit;
            if (first + unit - 1 <= (high & UNSIGNED)) {
                break;
            }
        }
        byte[] last = new byte[count];
        for (int i = 0; i < count; i++) {
            last[i] = (byte) (first >>> (24 - 8 * i));
        }
        return last;
    }
}
