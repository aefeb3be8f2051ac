package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads the statistics of a layout. Every byte is checked, because the tables determine the cost of a message. */
final class Statistics {
    private static final int VERSION = 1;
    /** The version with the predictors of series. */
    private static final int SERIES_VERSION = 2;
    /** The bytes of the fingerprint of the layout without statistics, which follow the version. */
    private static final int OWNER = 4;
    private static final int MAX_WIDTH = 62;
    private static final int MAX_BINS = 256;
    private static final int TOTAL_FREQUENCY = 256;
    private static final int MAX_DEPTH = 2;

    private final byte[] bytes;
    private int at;
    /** Whether a table of changes of the current leaf has a weight that needs a centre. */
    private boolean drawn;

    private Statistics(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Returns the leaves below {@code root} with their tables. {@code owner} is the fingerprint of the layout without statistics. */
    static Leaves read(byte[] bytes, Node root, byte[] owner) {
        Statistics input = new Statistics(bytes);
        Leaves leaves = new Leaves(root, (bytes.length - 1 - OWNER) / 2);
        int version = leaves.haveSeries() ? SERIES_VERSION : VERSION;
        if (input.next() != version) {
            throw new LayoutException("statistics of a version other than " + version);
        }
        for (int i = 0; i < OWNER; i++) {
            if (input.next() != (owner[i] & 0xff)) {
                throw new LayoutException("statistics of another layout");
            }
        }
        for (int at = 0; at < leaves.list.size(); at++) {
            input.leaf(at, leaves.list.get(at));
        }
        if (input.at < bytes.length) {
            throw new LayoutException("statistics with bytes after the last table");
        }
        return leaves;
    }

    private void leaf(int at, Leaves.Leaf leaf) {
        drawn = false;
        leaf.values = tables(at, leaf, false, 0);
        leaf.changes = tables(at, leaf, true, 0);
        if (drawn) {
            leaf.centre = number();
            if (Long.compareUnsigned(leaf.centre, leaf.count) >= 0 || !leaf.isIndex) {
                throw new LayoutException("statistics with a centre that is not one of the values");
            }
        }
        if (leaf.changes != null && leaf.isInSeries && leaf.isIndex) {
            int predictor = next();
            if (predictor > 1) {
                throw new LayoutException("statistics with the unknown predictor " + predictor);
            }
            leaf.isLinear = predictor == 1;
        }
    }

    private int next() {
        if (at == bytes.length) {
            throw new LayoutException("statistics that end too early");
        }
        return bytes[at++] & 0xff;
    }

    /** Reads an unsigned number of 64 bits. */
    private long number() {
        long n = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int b = next();
            long bits = b & 0x7f;
            if (bits << shift >>> shift != bits || b == 0 && shift > 0) {
                break;
            }
            n |= bits << shift;
            if (b < 0x80) {
                return n;
            }
        }
        throw new LayoutException("statistics with a number that is too large, or longer than it needs to be");
    }

    private Tables tables(int at, Leaves.Leaf leaf, boolean changes, int depth) {
        long count = number();
        if (count == 0 && depth == 0) {
            return null;
        }
        if (count == 1) {
            return Tables.of(table(leaf, changes));
        }
        // A table takes at least four bytes.
        if (count == 0 || Long.compareUnsigned(count, bytes.length - this.at) > 0 || depth == MAX_DEPTH) {
            throw new LayoutException("statistics with a class without a table, or with too many classes");
        }
        long before = number();
        int kind = next();
        if (Long.compareUnsigned(before, at) >= 0 || kind > 1) {
            throw new LayoutException("statistics with a table that depends on a part which is not before it");
        }
        long[] limits = new long[(int) count - 1];
        for (int i = 0; i < limits.length; i++) {
            long last = i == 0 ? 0 : limits[i - 1];
            limits[i] = last + number();
            if (Long.compareUnsigned(limits[i], last) <= 0) {
                throw new LayoutException("statistics with classes that do not ascend");
            }
        }
        List<Tables> classes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            classes.add(tables(at, leaf, changes, depth + 1));
        }
        return Tables.of((int) before, kind == 1, limits, classes);
    }

    private Tables.Table table(Leaves.Leaf leaf, boolean changes) {
        int weight = changes ? next() : Tables.Table.FULL_WEIGHT;
        drawn |= weight < Tables.Table.FULL_WEIGHT;
        long zigzag = number();
        long start = zigzag >>> 1 ^ -(zigzag & 1);
        long count = number();
        if (weight > Tables.Table.FULL_WEIGHT || count < 1 || count > MAX_BINS) {
            throw new LayoutException("statistics with a table without bins, with more than " + MAX_BINS + ", or with a weight above 16");
        }
        int[] widths = new int[(int) count];
        int[] frequencies = new int[(int) count];
        long end = start;
        for (int i = 0; i < count; i++) {
            widths[i] = next();
            int frequency = next();
            frequencies[i] = frequency == 0 ? TOTAL_FREQUENCY : frequency;
            if (widths[i] > MAX_WIDTH || end + (1L << widths[i]) < end) {
                throw new LayoutException("statistics with bins beyond 2^63");
            }
            end += 1L << widths[i];
        }
        if (Arrays.stream(frequencies).sum() != TOTAL_FREQUENCY) {
            throw new LayoutException("statistics with frequencies that do not add up to " + TOTAL_FREQUENCY);
        }
        if (start > 0 || end < 0 || Long.compareUnsigned(end, leaf.count) < 0) {
            throw new LayoutException("statistics with bins that do not reach all values");
        }
        return new Tables.Table(weight, start, widths, frequencies);
    }
}
