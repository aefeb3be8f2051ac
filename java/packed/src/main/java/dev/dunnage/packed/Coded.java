package dev.dunnage.packed;

/** Codes the parts of a body with the statistics of its layout. Writer and reader run the same code: {@code spec/packed.md}, "Coded bodies". */
abstract class Coded {
    private final Leaves leaves;
    private final CodedPast past;
    private final Tables.Before before;
    /** The indices of the elements around the next part, if there is a reference. */
    private final Path path = new Path();
    private final boolean hasReference;

    /** {@code reference} is null in the prior form. */
    Coded(Leaves leaves, Parts reference) {
        this.leaves = leaves;
        hasReference = reference != null;
        past = new CodedPast(leaves, reference);
        before = new Tables.Before(leaves.list.size());
    }

    /** Codes a number with a table, and returns it. A reader ignores the one that is given, here and below. */
    abstract long code(Tables.Table table, long number);

    /** Codes an index whose values are equally likely. */
    abstract long equally(long value, long count);

    /** Codes an opaque part as it is. {@code min} and {@code max} bound the length of a text. */
    abstract Datum plain(Datum given, long min, long max);

    /** Returns the byte of the message that is read next, for errors. */
    public abstract int offset();

    /** Codes an index out of {@code count}, and returns it. */
    final long code(long key, long value, long count) {
        if (count < 2) {
            return 0;
        }
        int at = leaves.find(key);
        if (at < 0) {
            return equally(value, count);
        }
        Leaves.Leaf leaf = leaves.list.get(at);
        Datum was = past.find(at, key, path, Datum.Form.INDEX, count);
        long read = leaf.every > 0 ? growing(at, value, was, count) : known(at, value, was, count);
        if (leaf.isInSeries) {
            past.enter(at, Datum.index(read, count));
        }
        return read;
    }

    /** Codes an index with the table of its change from {@code was}, if there are both. */
    private long known(int at, long value, Datum was, long count) {
        Leaves.Leaf leaf = leaves.list.get(at);
        if (was == null || leaf.changes == null) {
            return number(at, value, count, false);
        }
        Tables.Table table = leaf.changes.select(before);
        long predicted = table.predict(past.predicted(at, was.value, count), leaf.centre, count);
        int offset = offset();
        long number = code(table, Change.number(value, predicted, leaf.count >>> 1, count));
        long read = within(Change.value(number, predicted, leaf.count >>> 1, count), count, offset);
        before.set(at, read, number);
        return read;
    }

    /** Codes a number with {@code every}: its steps, and the rest. */
    private long growing(int at, long value, Datum was, long count) {
        long every = leaves.list.get(at).every;
        if (was == null) {
            int offset = offset();
            long steps = number(at, value / every, (count - 1) / every + 1, false);
            // The steps times every is below the count, so that the sum does not overflow.
            return within(steps * every + number(at + 1, value % every, every, false), count, offset);
        }
        int offset = offset();
        long values = leaves.list.get(at).count;
        long steps = number(at, Change.steps(value, was.value, every, values), values, true);
        long rest = number(at + 1, Change.rest(value, was.value, every), every, true);
        return within(Change.grown(steps, rest, was.value, every, values), count, offset);
    }

    /** Codes a number below {@code count} that is not predicted. */
    private long number(int at, long value, long count, boolean hasReference) {
        int offset = offset();
        Leaves.Leaf leaf = leaves.list.get(at);
        Tables tables = hasReference && leaf.changes != null ? leaf.changes : leaf.values;
        long read = tables == null ? equally(value, count) : within(code(tables.select(before), value), count, offset);
        before.set(at, read, read);
        return read;
    }

    /** Codes an opaque part: whether it is another than before, if there was one like it, and what it is then. */
    final Datum opaque(long key, Datum given, long min, long max) {
        int at = leaves.findOpaque(key);
        int offset = offset();
        Datum was = past.find(at, key, path, given.form, given.size);
        Datum read = was;
        if (was == null || number(at, was.isSame(given) ? 0 : 1, 2, true) == 1) {
            read = plain(given, min, max);
            if (was != null && was.isSame(read)) {
                throw new PackedException(Kind.MALFORMED, offset, "an unchanged part as a changed one");
            }
        }
        if (leaves.list.get(at).isInSeries) {
            past.enter(at, read);
        }
        return read;
    }

    public final void enter(int index) {
        if (hasReference) {
            path.enter(index);
        }
    }

    public final void leave() {
        if (hasReference) {
            path.leave();
        }
    }

    /** Checks that a number, without a sign, is below {@code count}. */
    static long within(long value, long count, int offset) {
        if (Long.compareUnsigned(value, count) >= 0) {
            throw new PackedException(Kind.RANGE, offset, "an index beyond the values of the schema");
        }
        return value;
    }
}
