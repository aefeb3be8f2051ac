package dev.dunnage.packed;

/** The parts of a node, which coded and modelled bodies tell apart by a key: the node, the part, and the number of the item or piece. */
final class Part {
    static final int VALUE = 0;
    static final int PRESENCE = 1;
    static final int COUNT = 2;
    static final int FORM = 3;
    static final int SIGN = 4;
    static final int PLACES = 5;
    static final int ORDER = 6;
    static final int KEY = 7;

    private static final int NTH_BITS = 28;

    private Part() {}

    /** Returns the key of a part. */
    static long key(int node, int part, int nth) {
        return ((long) node << 3 | part) << NTH_BITS | nth;
    }

    static long key(int node, int part) {
        return key(node, part, 0);
    }

    /** Returns the part of a key. */
    static int part(long key) {
        return (int) (key >>> NTH_BITS) & 7;
    }

    /** Returns a hash of the node and the part of a key. */
    static int place(long key) {
        return Hashes.of((int) (key >>> NTH_BITS >>> 3), part(key));
    }

    /** Returns the number of bits of an index out of {@code count}, which has no sign: ceil(log2 count). */
    static int indexBits(long count) {
        return count == 0 || count == 1 ? 0 : Long.SIZE - Long.numberOfLeadingZeros(count - 1);
    }
}
