package dev.dunnage.packed;

import java.util.Arrays;

/** The last numbers of each place of a modelled body. {@code spec/packed.md}, "Numbers". */
final class Past {
    private static final int FIRST_CAPACITY = 1 << 8;
    /** Larger arrays are not kept for the next message. */
    private static final int MAX_KEPT = 1 << 13;

    /** The index of each place in the arrays. */
    private final IntMap places = new IntMap();
    private long[] last = new long[FIRST_CAPACITY];
    private long[] before = new long[FIRST_CAPACITY];
    private int[] counts = new int[FIRST_CAPACITY];
    private int[] hitsOfLast = new int[FIRST_CAPACITY];
    private int[] hitsOfNext = new int[FIRST_CAPACITY];
    /** The first index, 0, is that of a place without numbers. */
    private int size = 1;

    /** Returns the index of a place, or 0 if it had no number. */
    int find(int place) {
        return places.get(place);
    }

    /** Returns the last number of the place with this index, or 0. */
    long last(int at) {
        return last[at];
    }

    /** Returns the number before the last one, or 0. */
    long before(int at) {
        return before[at];
    }

    /** Returns the number that continues the last difference. */
    long next(int at) {
        return 2 * last[at] - before[at];
    }

    /** Returns the number of numbers so far. */
    int count(int at) {
        return counts[at];
    }

    /** Returns how often in succession the number repeated the last one. */
    int hitsOfLast(int at) {
        return hitsOfLast[at];
    }

    /** Returns how often in succession the number continued the last difference. */
    int hitsOfNext(int at) {
        return hitsOfNext[at];
    }

    /** Enters a number at a place. */
    void learn(int place, long value) {
        int at = places.get(place);
        if (at == 0) {
            at = add();
            places.put(place, at);
        }
        hitsOfLast[at] = counts[at] > 0 && value == last[at] ? hitsOfLast[at] + 1 : 0;
        hitsOfNext[at] = counts[at] > 1 && value == next(at) ? hitsOfNext[at] + 1 : 0;
        before[at] = last[at];
        last[at] = value;
        counts[at]++;
    }

    private int add() {
        if (size == last.length) {
            resize(2 * size);
        }
        last[size] = 0;
        before[size] = 0;
        counts[size] = 0;
        return size++;
    }

    private void resize(int capacity) {
        last = Arrays.copyOf(last, capacity);
        before = Arrays.copyOf(before, capacity);
        counts = Arrays.copyOf(counts, capacity);
        hitsOfLast = Arrays.copyOf(hitsOfLast, capacity);
        hitsOfNext = Arrays.copyOf(hitsOfNext, capacity);
    }

    /** Makes the numbers those of another past, which has few. */
    void copy(Past other) {
        if (last.length > MAX_KEPT || last.length < other.size) {
            resize(other.last.length);
        }
        places.copy(other.places);
        System.arraycopy(other.last, 0, last, 0, other.size);
        System.arraycopy(other.before, 0, before, 0, other.size);
        System.arraycopy(other.counts, 0, counts, 0, other.size);
        System.arraycopy(other.hitsOfLast, 0, hitsOfLast, 0, other.size);
        System.arraycopy(other.hitsOfNext, 0, hitsOfNext, 0, other.size);
        size = other.size;
    }
}
