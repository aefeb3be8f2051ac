package dev.dunnage.packed;

import java.math.BigInteger;

/** The whole numbers min, min + step, ... max, and how they are written. {@code spec/packed.md}, "Numbers". */
final class NumberRange {
    /** The most values of an index. Numbers with more values are sized. */
    private static final BigInteger MAX_INDEX = BigInteger.ONE.shiftLeft(62);
    /** From this number of units on, a decimal may not be the shortest text of any binary64. */
    private static final BigInteger DIGITS_15 = BigInteger.TEN.pow(15);
    private static final int SIZED_BITS = 70;

    private final BigInteger min;
    private final BigInteger max;
    private final BigInteger step;
    /** The number of values of an index, or 0 if the numbers are sized. */
    private final long count;
    /** The first and the last usual number, and how many there are: 0 if no index of usual numbers comes first. */
    private final BigInteger usualFirst;
    private final BigInteger usualLast;
    private final long usualCount;
    /** The steps by which the number grows from message to message, or 0. */
    private final long every;
    private final Notation notation;
    /** Whether a writer rounds. */
    private boolean rounds;

    /** {@code usual} is null, or the first and the last usual number. {@code every} is 0 if the number does not grow. */
    NumberRange(BigInteger min, BigInteger max, BigInteger step, BigInteger[] usual, long every, Notation notation) {
        this.min = min;
        this.max = max;
        this.step = step;
        this.every = every;
        this.notation = notation;
        BigInteger values = count(min, max);
        count = values.compareTo(MAX_INDEX) <= 0 ? values.longValue() : 0;
        BigInteger usualValues = usual == null ? MAX_INDEX : count(usual[0], usual[1]);
        usualCount = usualValues.compareTo(MAX_INDEX) < 0 ? usualValues.longValue() : 0;
        usualFirst = usual == null ? null : usual[0];
        usualLast = usual == null ? null : usual[1];
        if (count == 0 && (steps(min.signum() < 0 ? min : max.subtract(min)) || steps(max))) {
            throw new LayoutException("numbers of more than 64 bits");
        }
    }

    private boolean steps(BigInteger distance) {
        return distance.divide(step).bitLength() > Long.SIZE;
    }

    private BigInteger count(BigInteger first, BigInteger last) {
        return last.subtract(first).divide(step).add(BigInteger.ONE);
    }

    /** Makes writers round. Returns false if the numbers are not decimals. */
    boolean round() {
        rounds = notation instanceof DecimalNotation && !(notation instanceof TextNotation);
        return rounds;
    }

    /** Returns the whole number of a value, rounded if a writer rounds. */
    BigInteger toWrite(Object value) {
        BigInteger n = notation.number(value);
        boolean isExact = n != null && contains(n);
        return checked(value, isExact || !rounds ? n : ((DecimalNotation) notation).nearest(value, step));
    }

    /** Returns the whole number of a value without rounding. */
    BigInteger exact(Object value) {
        return checked(value, notation.number(value));
    }

    private BigInteger checked(Object value, BigInteger n) {
        if (n == null || !contains(n)) {
            throw Node.range(Describe.brief(value) + " is " + flaw(value, n));
        }
        return n;
    }

    /** Returns why a value is not one of the numbers. {@code n} is its whole number, or null if it has none. */
    private String flaw(Object value, BigInteger n) {
        boolean isTime = notation instanceof TimeNotation;
        if (n != null && n.compareTo(min) < 0) {
            return (isTime ? "before the first time " : "below the minimum ") + notation.shown(min);
        } else if (n != null && n.compareTo(max) > 0) {
            return (isTime ? "after the last time " : "above the maximum ") + notation.shown(max);
        } else if (value instanceof Double && (Double) value == 0) {
            return "not one of the numbers: its sign would be lost";
        }
        return "not " + notation.expected(value, min, step);
    }

    private boolean contains(BigInteger n) {
        boolean within = min.compareTo(n) <= 0 && n.compareTo(max) <= 0;
        return within && (step.equals(BigInteger.ONE) || n.subtract(min).mod(step).signum() == 0);
    }

    /** Whether a value is one of the numbers without rounding. */
    boolean carries(Object value) {
        boolean text = notation instanceof TextNotation || notation instanceof TimeNotation;
        if (text ? !(value instanceof String) : !(value instanceof Number)) {
            return false;
        }
        BigInteger n = notation.number(value);
        return n != null && contains(n);
    }

    /** Returns the value of a number that was read from {@code offset} on. */
    Object value(BigInteger n, int offset) {
        Object value = notation.value(n);
        boolean isDecimal = notation instanceof DecimalNotation && value instanceof Number;
        if (isDecimal && ((DecimalNotation) notation).scaledOf(n).abs().compareTo(DIGITS_15) >= 0 && !n.equals(notation.number(value))) {
            throw new PackedException(Kind.RANGE, offset, "a decimal that no binary64 has as its shortest text");
        }
        return value;
    }

    /** Statistics replace the usual numbers where they are tables of all values. */
    private boolean hasUsual(boolean coded) {
        return usualCount > 0 && !(coded && count > 0);
    }

    void write(int node, int nth, BigInteger n, Sink sink) {
        long key = Part.key(node, Part.VALUE, nth);
        if (hasUsual(sink.body() == Body.CODED)) {
            if (usualFirst.compareTo(n) <= 0 && n.compareTo(usualLast) <= 0) {
                sink.index(key, n.subtract(usualFirst).divide(step).longValue(), usualCount + 1);
                return;
            }
            sink.index(key, usualCount, usualCount + 1);
        }
        if (count > 0) {
            sink.index(key, n.subtract(min).divide(step).longValue(), count);
        } else if (min.signum() >= 0) {
            sink.sized(key, n.subtract(min).divide(step).longValue());
        } else {
            BigInteger steps = n.divide(step);
            sink.index(Part.key(node, Part.SIGN, nth), n.signum() < 0 ? 1 : 0, 2);
            sink.sized(key, (n.signum() < 0 ? steps.not() : steps).longValue());
        }
    }

    BigInteger read(int node, int nth, Source source) {
        long key = Part.key(node, Part.VALUE, nth);
        boolean usual = hasUsual(source.body() == Body.CODED);
        if (usual) {
            long steps = source.index(key, usualCount + 1);
            if (steps < usualCount) {
                return usualFirst.add(distance(steps));
            }
        }
        int offset = source.offset();
        BigInteger n;
        if (count > 0) {
            n = min.add(distance(source.index(key, count)));
        } else if (min.signum() >= 0) {
            n = min.add(distance(source.sized(key)));
        } else {
            boolean negative = source.index(Part.key(node, Part.SIGN, nth), 2) == 1;
            BigInteger steps = Values.unsigned(source.sized(key));
            n = (negative ? steps.not() : steps).multiply(step);
        }
        if (n.compareTo(min) < 0 || n.compareTo(max) > 0) {
            throw new PackedException(Kind.RANGE, offset, "a number out of its range");
        }
        if (usual && usualFirst.compareTo(n) <= 0 && n.compareTo(usualLast) <= 0) {
            throw new PackedException(Kind.MALFORMED, offset, "a usual number behind the escape");
        }
        return n;
    }

    private BigInteger distance(long steps) {
        return Values.unsigned(steps).multiply(step);
    }

    long maxBits() {
        long bits = count > 0 ? Part.indexBits(count) : SIZED_BITS + (min.signum() < 0 ? 1 : 0);
        return bits + (usualCount > 0 ? Part.indexBits(usualCount + 1) : 0);
    }

    void addLeaves(int node, int nth, Leaves leaves) {
        long key = Part.key(node, Part.VALUE, nth);
        if (count > 0 && every > 0) {
            leaves.every(key, count, every);
        } else if (count > 0) {
            leaves.index(key, count);
        } else {
            leaves.index(key, usualCount == 0 ? 1 : usualCount + 1);
            leaves.index(Part.key(node, Part.SIGN, nth), min.signum() < 0 ? 2 : 1);
            leaves.opaque(key);
        }
    }
}
