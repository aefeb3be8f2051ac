package dev.dunnage.packed;

/** How far an index is from its prediction, and how far a number with {@code every} has grown. {@code spec/packed.md}, "Values". */
final class Change {
    private Change() {}

    /** Returns the number for an index below {@code count}. Distances go around: from the last index to the first one it is 1. */
    static long number(long value, long predicted, long half, long count) {
        long least = -(count / 2);
        long distance = value - predicted;
        if (distance < least) {
            distance += count;
        } else if (distance >= least + count) {
            distance -= count;
        }
        return distance + half;
    }

    /** Returns the index below {@code count} for a number, or -1. */
    static long value(long number, long predicted, long half, long count) {
        long least = half - count / 2;
        if (number < least || number >= least + count) {
            return -1;
        }
        long value = predicted + (number - half);
        return value < 0 ? value + count : value >= count ? value - count : value;
    }

    /** Returns the steps of a number that was {@code was}, plus half of the values of their leaf. */
    static long steps(long value, long was, long every, long values) {
        return Math.floorDiv(value - was + every / 2, every) + (values >>> 1);
    }

    /** Returns the rest beside the steps. */
    static long rest(long value, long was, long every) {
        return Math.floorMod(value - was + every / 2, every);
    }

    /** Returns the number with these steps and this rest, or -1 if it is beyond 63 bits. */
    static long grown(long steps, long rest, long was, long every, long values) {
        try {
            return Math.addExact(was, Math.addExact(Math.multiplyExact(steps - (values >>> 1), every), rest - every / 2));
        } catch (ArithmeticException e) {
            return -1;
        }
    }
}
