package dev.dunnage.packed;

import java.util.Arrays;
import java.util.Random;

/**
 * A hash table from ints to positive ints, without objects for its entries.
 *
 * <p>The keys are chosen by whoever wrote the message. Tables of random numbers place them (tabulation hashing), so that nobody can choose keys that
 * are slow to find.
 */
final class IntMap {
    private static final int FIRST_CAPACITY = 1 << 8;
    private static final int[][] RANDOM = new int[4][256];

    static {
        Random random = new Random();
        for (int[] row : RANDOM) {
            Arrays.setAll(row, i -> random.nextInt());
        }
    }

    private int[] keys = new int[FIRST_CAPACITY];
    /** 0 where there is no entry. */
    private int[] values = new int[FIRST_CAPACITY];
    private int size;

    private int find(int key) {
        int hash = RANDOM[0][key & 255] ^ RANDOM[1][key >>> 8 & 255] ^ RANDOM[2][key >>> 16 & 255] ^ RANDOM[3][key >>> 24];
        int at = hash & (keys.length - 1);
        while (values[at] != 0 && keys[at] != key) {
            at = (at + 1) & (keys.length - 1);
        }
        return at;
    }

    /** Returns the value of a key, or 0. */
    int get(int key) {
        return values[find(key)];
    }

    /** Sets the value of a key. Returns the one before, or 0. */
    int put(int key, int value) {
        int at = find(key);
        int before = values[at];
        keys[at] = key;
        values[at] = value;
        if (before == 0 && ++size > keys.length / 2) {
            grow();
        }
        return before;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldValues = values;
        keys = new int[2 * oldKeys.length];
        values = new int[2 * oldKeys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != 0) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                values[at] = oldValues[i];
            }
        }
    }

    /** Makes the entries those of another table. */
    void copy(IntMap other) {
        boolean fits = keys.length == other.keys.length;
        keys = fits ? keys : new int[other.keys.length];
        values = fits ? values : new int[other.keys.length];
        System.arraycopy(other.keys, 0, keys, 0, keys.length);
        System.arraycopy(other.values, 0, values, 0, values.length);
        size = other.size;
    }
}
