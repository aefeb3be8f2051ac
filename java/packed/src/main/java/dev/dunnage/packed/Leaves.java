package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The parts of the messages that have statistics, in the order of the layout. {@code spec/packed.md}, "Coded bodies". */
final class Leaves {
    /** A part with statistics. */
    static final class Leaf {
        /** The largest number of values: those of an index, or 2 for an opaque part, which is the same as in a reference or not. */
        final long count;
        /** The steps by which the number grows, if the leaf counts them; its rest is the next leaf. Otherwise 0. */
        final long every;
        /** Whether the leaf is an index, which is predicted. */
        final boolean isIndex;
        /** Whether the leaf is a part of the elements of a series. */
        final boolean isInSeries;
        /** The tables of values and those of changes, or null. */
        Tables values;
        Tables changes;
        /** The index to which predictions tend. */
        long centre;
        /** Whether an index in a series moves on as it did. Otherwise it is predicted to stay. */
        boolean isLinear;

        Leaf(long count, long every, boolean isIndex, boolean isInSeries) {
            this.count = count;
            this.every = every;
            this.isIndex = isIndex;
            this.isInSeries = isInSeries;
        }
    }

    final List<Leaf> list = new ArrayList<>();
    private final Map<Long, Integer> byKey = new HashMap<>();
    private final Map<Long, Integer> opaqueByKey = new HashMap<>();
    /** Whether the leaves that are added now are in a series. */
    private boolean isInSeries;
    private boolean haveSeries;
    private final int most;

    /** Finds the leaves below {@code root}, at most {@code most}. */
    Leaves(Node root, int most) {
        this.most = most;
        root.addLeaves(this);
    }

    private void add(long count, long every, boolean isIndex) {
        if (list.size() >= most) {
            throw new LayoutException("statistics that end too early");
        }
        haveSeries |= isInSeries;
        list.add(new Leaf(count, every, isIndex, isInSeries));
    }

    /** Adds the leaves of the elements of a series. */
    void series(Node elements) {
        boolean around = isInSeries;
        isInSeries = true;
        elements.addLeaves(this);
        isInSeries = around;
    }

    /** Whether a leaf is in a series. */
    boolean haveSeries() {
        return haveSeries;
    }

    /** Adds an index, if it has several values. */
    void index(long key, long count) {
        if (count > 1) {
            byKey.put(key, list.size());
            add(count, 0, true);
        }
    }

    /** Adds a part that is coded as it is: a sized number, the bits of a float or a text. */
    void opaque(long key) {
        opaqueByKey.put(key, list.size());
        add(2, 0, false);
    }

    /** Adds a number below {@code count} that grows by {@code every}: steps forwards and backwards or none, and the rest. */
    void every(long key, long count, long every) {
        byKey.put(key, list.size());
        add(2 * (count / every + 1) + 1, every, false);
        add(every, 0, false);
    }

    /** Returns the index of the leaf of an index, or -1. */
    int find(long key) {
        Integer at = byKey.get(key);
        return at == null ? -1 : at;
    }

    /** Returns the index of the leaf of an opaque part. */
    int findOpaque(long key) {
        return opaqueByKey.get(key);
    }
}
