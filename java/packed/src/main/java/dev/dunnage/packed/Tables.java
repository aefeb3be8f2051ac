package dev.dunnage.packed;

import java.util.List;

/** The tables of a leaf: one, or one for each class of a leaf before it. */
final class Tables {
    /** The last value of each leaf of the message, and the number that was written for it. */
    static final class Before {
        final long[] values;
        final long[] written;

        Before(int leaves) {
            values = new long[leaves];
            written = new long[leaves];
        }

        void set(int leaf, long value, long number) {
            values[leaf] = value;
            written[leaf] = number;
        }
    }

    private final Table one;
    private final int leaf;
    private final boolean change;
    /** The first value of each class but the first. */
    private final long[] limits;
    private final List<Tables> classes;

    private Tables(Table one, int leaf, boolean change, long[] limits, List<Tables> classes) {
        this.one = one;
        this.leaf = leaf;
        this.change = change;
        this.limits = limits;
        this.classes = classes;
    }

    static Tables of(Table one) {
        return new Tables(one, 0, false, null, null);
    }

    static Tables of(int leaf, boolean change, long[] limits, List<Tables> classes) {
        return new Tables(null, leaf, change, limits, classes);
    }

    /** Returns the table for the leaves before this one. */
    Table select(Before before) {
        Tables tables = this;
        while (tables.one == null) {
            long value = tables.change ? before.written[tables.leaf] : before.values[tables.leaf];
            int at = 0;
            while (at < tables.limits.length && Long.compareUnsigned(tables.limits[at], value) <= 0) {
                at++;
            }
            tables = tables.classes.get(at);
        }
        return tables.one;
    }

    /** Bins that follow each other from {@code start} on: bin i has 2^width values and share/256 of all messages. */
    static final class Table {
        static final int FREQUENCY_BITS = 8;
        /** The weight of a prediction that is taken as it is. */
        static final int FULL_WEIGHT = 16;

        /** How much of the reference is in the prediction, in sixteenths. The rest is the leaf's centre. */
        private final int weight;
        final long start;
        final int[] widths;
        final int[] frequencies;

        Table(int weight, long start, int[] widths, int[] frequencies) {
            this.weight = weight;
            this.start = start;
            this.widths = widths;
            this.frequencies = frequencies;
        }

        /** Returns the index that is predicted from {@code was}, out of {@code count}. */
        long predict(long was, long centre, long count) {
            if (weight == FULL_WEIGHT) {
                return was;
            }
            long nearest = Math.min(centre, count - 1);
            long distance = was - nearest;
            // Sixteen times the distance may have more than 64 bits.
            return nearest + (distance >> 4) * weight + ((distance & 15) * weight >> 4);
        }

        /** Writes a value of the table. */
        void write(RangeWriter coder, long value) {
            long first = start;
            int below = 0;
            int bin = 0;
            // All bins end below 2^63, so that the sum does not overflow.
            while (bin < widths.length - 1 && value >= first + (1L << widths[bin])) {
                first += 1L << widths[bin];
                below += frequencies[bin++];
            }
            coder.symbol(FREQUENCY_BITS, below, frequencies[bin]);
            coder.bits(value - first, widths[bin]);
        }

        long read(RangeReader coder) {
            int part = coder.part(FREQUENCY_BITS);
            long first = start;
            int below = 0;
            int bin = 0;
            while (bin < widths.length - 1 && part >= below + frequencies[bin]) {
                first += 1L << widths[bin];
                below += frequencies[bin++];
            }
            coder.take(below, frequencies[bin]);
            return first + coder.bits(widths[bin]);
        }
    }
}
