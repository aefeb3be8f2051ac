package dev.dunnage.packed;

/** The least and the most elements of an array, or characters of a text. */
final class Bounds {
    /** The maximum where there is none. */
    static final long OPEN = Long.MAX_VALUE;

    final long min;
    final long max;

    Bounds(long min, long max) {
        this.min = min;
        this.max = max;
    }

    boolean hold(int number) {
        return min <= number && number <= max;
    }

    /** Returns the reason why a number is not within the bounds, as the end of a sentence. */
    String flaw(long number) {
        return number < min ? "the minimum is " + min : "the maximum is " + max;
    }

    /** Returns how many numbers there are, or 1 if there is no maximum. */
    long count() {
        return max == OPEN ? 1 : max - min + 1;
    }

    /** Writes the number of elements, which is within the bounds. */
    void write(long key, long number, Sink sink) {
        if (max == OPEN) {
            sink.sized(key, number - min);
        } else {
            sink.index(key, number - min, count());
        }
    }

    /** Reads the number of elements. */
    long read(long key, Source source) {
        if (max < OPEN) {
            return min + source.index(key, count());
        }
        long above = source.sized(key);
        return above < 0 || above > OPEN - min ? OPEN : min + above;
    }

    long maxBits() {
        return max == OPEN ? Bits.OPEN : Part.indexBits(count());
    }
}
