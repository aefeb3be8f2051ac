package dev.dunnage.packed;

/** Sums of bits that do not overflow. No message has as many bits as {@link #MANY}. */
final class Bits {
    private static final long MANY = 1L << 40;

    private Bits() {}

    static long and(long a, long b) {
        return Math.min(a + b, MANY);
    }

    static long times(long bits, long count) {
        return bits == 0 || count == 0 ? 0 : count > MANY / bits ? MANY : bits * count;
    }
}
