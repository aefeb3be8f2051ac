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
        /** Whether the tables of changes may have a centre. */
        final boolean hasCentre;
        /** The tables of values, or null. Those of changes are for deltas, which this library does not have. */
        Tables tables;

        Leaf(long count, long every, boolean hasCentre) {
            this.count = count;
            this.every = every;
            this.hasCentre = hasCentre;
        }
    }

    final List<Leaf> list = new ArrayList<>();
    private final Map<Long, Integer> byKey = new HashMap<>();
    private final int most;

    /** Finds the leaves below {@code root}, at most {@code most}. */
    Leaves(Node root, int most) {
        this.most = most;
        root.addLeaves(this);
    }

    private void add(Leaf leaf) {
        if (list.size() == most) {
            throw new LayoutException("statistics that end too early");
        }
        list.add(leaf);
    }

    /** Adds an index, if it has several values. */
    void index(long key, long count) {
        if (count > 1) {
            byKey.put(key, list.size());
            add(new Leaf(count, 0, true));
        }
    }

    /** Adds a part that is coded as it is: a sized number, the bits of a float or a text. */
    void opaque() {
        add(new Leaf(2, 0, false));
    }

    /** Adds a number below {@code count} that grows by {@code every}: steps forwards and backwards or none, and the rest. */
    void every(long key, long count, long every) {
        byKey.put(key, list.size());
        add(new Leaf(2 * (count / every + 1) + 1, every, false));
        add(new Leaf(every, 0, false));
    }

    /** Returns the index of the leaf of an index, or -1. */
    int find(long key) {
        Integer at = byKey.get(key);
        return at == null ? -1 : at;
    }
}
