package dev.dunnage.packed;

/**
 * What writer and reader know before a part of a coded body: the same part of the reference or, in a series, the part of the element before.
 * {@code spec/packed.md}, "The reference" and "Series".
 */
final class CodedPast {
    private final Leaves leaves;
    /** Null without a reference. */
    private final Parts reference;
    /** The last part of each leaf in a series, or null; and the index before it. Empty if no leaf is in a series. */
    private final Datum[] last;
    private final long[] before;

    /** Knows what comes before the first part: the series of the reference go on. */
    CodedPast(Leaves leaves, Parts reference) {
        this.leaves = leaves;
        this.reference = reference;
        last = new Datum[leaves.haveSeries() ? leaves.list.size() : 0];
        before = new long[last.length];
        if (reference != null && leaves.haveSeries()) {
            reference.forEach((place, part) -> {
                int leaf = place.isOpaque ? leaves.findOpaque(place.key) : leaves.find(place.key);
                if (leaves.list.get(leaf).isInSeries) {
                    enter(leaf, part);
                }
            });
        }
    }

    /** Returns the part that was before this one, which is in the elements {@code path}, if it has this form and size, or null. */
    Datum find(int leaf, long key, Path path, Datum.Form form, long size) {
        Datum was = null;
        if (leaves.list.get(leaf).isInSeries) {
            was = last[leaf];
        } else if (reference != null) {
            was = reference.find(new Parts.Place(key, form != Datum.Form.INDEX, path.indices));
        }
        return was != null && was.isLike(form, size) ? was : null;
    }

    /** Returns what predicts an index out of {@code count} after {@code was}. */
    long predicted(int leaf, long was, long count) {
        if (!leaves.list.get(leaf).isLinear) {
            return was;
        }
        return Math.min(Math.max(2 * was - before[leaf], 0), count - 1);
    }

    /** Takes note of a part of a leaf in a series, which is opaque or an index of several values. */
    void enter(int leaf, Datum part) {
        Datum was = last[leaf];
        before[leaf] = was != null && was.isLike(part.form, part.size) ? was.value : part.value;
        last[leaf] = part;
    }
}
