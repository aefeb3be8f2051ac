package dev.dunnage.packed;

import java.util.Arrays;

/**
 * The statistics of the contexts of all decisions. A slot is an int: its probability of 1 in the highest 16 bits, the counts of 0 and of 1 in four bits
 * each, and eight bits of its context, which detect most collisions.
 */
final class SlotTable {
    private static final int FIRST_SLOTS = 1 << 19;
    private static final int EMPTY = 32768 << 16;

    /** The slots of a block, as a power of two. The contexts of half a byte are in one block. */
    private static final int BLOCK_BITS = 4;
    private static final int BLOCKS = FIRST_SLOTS >> BLOCK_BITS;
    /** With more changed blocks, it is faster to copy all. */
    private static final int MANY_BLOCKS = BLOCKS / 4;

    private int[] slots = new int[FIRST_SLOTS];
    /** The blocks with slots that have changed since {@link #copy}, each once, up to {@link #MANY_BLOCKS}. */
    private final int[] changed = new int[MANY_BLOCKS];
    private final boolean[] isChanged = new boolean[BLOCKS];
    private int changes = MANY_BLOCKS;

    SlotTable() {
        Arrays.fill(slots, EMPTY);
        Arrays.fill(isChanged, true);
    }

    /** Makes the slots those of another table, which has not doubled. Except in the first call, it must be the same one as before. */
    void copy(SlotTable other) {
        if (changes < MANY_BLOCKS) {
            for (int i = 0; i < changes; i++) {
                int first = changed[i] << BLOCK_BITS;
                System.arraycopy(other.slots, first, slots, first, 1 << BLOCK_BITS);
                isChanged[changed[i]] = false;
            }
        } else {
            slots = slots.length == FIRST_SLOTS ? slots : new int[FIRST_SLOTS];
            System.arraycopy(other.slots, 0, slots, 0, FIRST_SLOTS);
            Arrays.fill(isChanged, false);
        }
        changes = 0;
    }

    private void note(int at) {
        int block = at >>> BLOCK_BITS;
        if (changes < MANY_BLOCKS && !isChanged[block]) {
            isChanged[block] = true;
            changed[changes++] = block;
        }
    }

    /** Doubles the number of slots. Each is copied to both places that one more bit of the hash tells apart. */
    void twice() {
        changes = MANY_BLOCKS;
        slots = Arrays.copyOf(slots, 2 * FIRST_SLOTS);
        System.arraycopy(slots, 0, slots, FIRST_SLOTS, FIRST_SLOTS);
    }

    /** Returns the slot of a context. If other contexts have both of its places, it replaces the one that was seen less. */
    int find(int context) {
        int at = context & slots.length - 1;
        int check = context >>> 24;
        if ((slots[at] & 255) == check) {
            return at;
        }
        int next = at ^ 16;
        if ((slots[next] & 255) == check) {
            return next;
        }
        int less = decisions(slots[next]) < decisions(slots[at]) ? next : at;
        slots[less] = EMPTY | check;
        note(less);
        return less;
    }

    private static int decisions(int slot) {
        return (slot >>> 12 & 15) + (slot >>> 8 & 15);
    }

    /** Returns the pair of counts of a slot, 0 to 255. */
    int seen(int at) {
        return slots[at] >>> 8 & 255;
    }

    int probability(int at) {
        return slots[at] >>> 16;
    }

    /** Learns a decision of the slot's context. */
    void update(int at, int bit) {
        int slot = slots[at];
        int zeros = slot >>> 12 & 15;
        int ones = slot >>> 8 & 15;
        int p = Logistic.adapt(slot >>> 16, bit, zeros + ones);
        int same = Math.min((bit == 1 ? ones : zeros) + 1, 15);
        int other = bit == 1 ? zeros : ones;
        other = other > 2 ? (other + 2) / 2 : other;
        int seen = bit == 1 ? other << 4 | same : same << 4 | other;
        slots[at] = p << 16 | seen << 8 | slot & 255;
        note(at);
    }
}
