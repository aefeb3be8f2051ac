package dev.dunnage.packed;

/** Hashes contexts, places and texts of modelled bodies to 32 bits. {@code spec/packed.md}, "Contexts". */
final class Hashes {
    private static final int START = 0x12345678;

    private Hashes() {}

    /** Adds {@code value} to a hash. */
    static int hash(int seed, int value) {
        int h = Integer.rotateLeft((seed ^ value) * 0x2C1B3C6D, 13) * 0x9E3779B1;
        return h ^ h >>> 15;
    }

    static int of(int a) {
        return hash(START, a);
    }

    static int of(int a, int b) {
        return hash(of(a), b);
    }

    static int of(int a, int b, int c) {
        return hash(of(a, b), c);
    }

    static int of(int a, int b, int c, int d) {
        return hash(of(a, b, c), d);
    }

    static int of(int a, int b, int c, int d, int e) {
        return hash(of(a, b, c, d), e);
    }

    /** Hashes a number of 64 bits. */
    static int fold(long n) {
        return hash((int) n, (int) (n >>> 32));
    }
}
