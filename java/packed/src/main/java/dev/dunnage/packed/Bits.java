package dev.dunnage.packed;

/** Sums of bits that do not overflow. */
final class Bits {
    /** The bits of a part without a bound. */
    static final long OPEN = 1L << 41;
    /** More bits than any plain message has. */
    private static final long MANY = 1L << 40;

    private Bits() {}

    static long and(long a, long b) {
        return a == OPEN || b == OPEN ? OPEN : Math.min(a + b, MANY);
    }

    /** Returns the bits of up to {@code count} parts. */
    static long times(long bits, long count) {
        if (bits == OPEN || count == Bounds.OPEN) {
            return OPEN;
        }
        return bits == 0 || count == 0 ? 0 : count > MANY / bits ? MANY : bits * count;
    }
}
