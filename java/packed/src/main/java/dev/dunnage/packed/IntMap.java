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
    /** Larger tables are not kept for the next message. */
    private static final int MAX_KEPT = 1 << 14;
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

    /** Removes all entries. */
    void clear() {
        size = 0;
        if (keys.length > MAX_KEPT) {
            keys = new int[FIRST_CAPACITY];
            values = new int[FIRST_CAPACITY];
        } else {
            Arrays.fill(values, 0);
        }
    }

    /** Makes the entries those of another table. */
    void copy(IntMap other) {
        clear();
        for (int i = 0; i < other.keys.length; i++) {
            if (other.values[i] != 0) {
                put(other.keys[i], other.values[i]);
            }
        }
    }
}
