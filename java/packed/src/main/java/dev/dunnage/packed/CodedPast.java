package dev.dunnage.packed;

/** What writer and reader know before a part of a coded body: in a series, the parts of the elements before. {@code spec/packed.md}, "Series". */
final class CodedPast {
    private final Leaves leaves;
    /** The last part of each leaf in a series, or null; and the index before it. Empty if no leaf is in a series. */
    private final Datum[] last;
    private final long[] before;

    CodedPast(Leaves leaves) {
        this.leaves = leaves;
        last = new Datum[leaves.haveSeries() ? leaves.list.size() : 0];
        before = new long[last.length];
    }

    /** Returns the part that was before this one of the leaf, if it has this form and size, or null. */
    Datum find(int leaf, Datum.Form form, long size) {
        Datum was = leaves.list.get(leaf).isInSeries ? last[leaf] : null;
        return was != null && was.isLike(form, size) ? was : null;
    }

    /** Returns what predicts an index out of {@code count} after {@code was}. */
    long predicted(int leaf, long was, long count) {
        if (!leaves.list.get(leaf).isLinear) {
            return was;
        }
        return Math.min(Math.max(2 * was - before[leaf], 0), count - 1);
    }

    /** Takes note of a part of a leaf in a series. */
    void enter(int leaf, Datum part) {
        // An index of one value takes no bits, and says nothing about the next one.
        if (part.form == Datum.Form.INDEX && part.size < 2) {
            return;
        }
        Datum was = find(leaf, part.form, part.size);
        before[leaf] = was == null ? part.value : was.value;
        last[leaf] = part;
    }
}
