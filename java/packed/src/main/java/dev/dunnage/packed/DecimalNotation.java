package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** A number with decimals: the whole number is in units of its last decimal, or counts quanta. */
class DecimalNotation implements Notation {
    /** The most decimals of a number. */
    static final int MAX_PLACES = 18;
    /** Below this, binary64 distinguishes all numbers of units. */
    private static final double CERTAIN = 1L << 50;
    /** Below this, whole numbers are exact in binary64. */
    private static final int EXACT_BITS = 53;

    final int places;
    private final Quantum quantum;
    private final BigInteger unit;

    /** {@code quantum} is null if there is no quantum. */
    DecimalNotation(int places, Quantum quantum) {
        this.places = places;
        this.quantum = quantum;
        unit = BigInteger.TEN.pow(places);
    }

    @Override
    public BigInteger number(Object value) {
        if (!(value instanceof Number)) {
            throw Values.wrongType("a number", value);
        }
        return counted(scaled(value));
    }

    @Override
    public Object value(BigInteger n) {
        BigInteger scaled = scaledOf(n);
        if (scaled.bitLength() < EXACT_BITS) {
            long units = scaled.longValue();
            long one = unit.longValue();
            return units % one == 0 ? (Object) (units / one) : (double) units / Floats.POWERS[places];
        }
        BigInteger[] whole = scaled.divideAndRemainder(unit);
        return whole[1].signum() == 0 ? Values.number(whole[0]) : Values.number(new BigDecimal(scaled, places).doubleValue());
    }

    @Override
    public String shown(BigInteger n) {
        return Describe.fixed(scaledOf(n), places, 1);
    }

    @Override
    public String expected(Object value, BigInteger first, BigInteger step) {
        if (value instanceof Double && !Double.isFinite((Double) value)) {
            return "a finite number";
        }
        String unit = Describe.fixed(quantum == null ? step : BigInteger.ONE, places, 1);
        String multiple = quantum == null ? unit : quantum.toText(places) + ", rounded to " + unit;
        return "a multiple of " + multiple + (value instanceof BigDecimal ? ", or not exact as a binary64" : "");
    }

    /** Returns the whole number nearest to {@code value}, half away from zero, in steps of {@code step}; null for a value that is not a number. */
    final BigInteger nearest(Object value, BigInteger step) {
        BigDecimal exact;
        if (value instanceof Double) {
            exact = Double.isFinite((Double) value) ? Floats.shortest((Double) value) : null;
        } else if (value instanceof BigDecimal) {
            exact = (BigDecimal) value;
        } else {
            BigInteger whole = Values.whole(value);
            exact = whole == null ? null : new BigDecimal(whole);
        }
        // A number with this many digits is out of every range.
        if (exact == null || exact.precision() - (long) exact.scale() > 64) {
            return null;
        }
        // The digits of a number that is nearly 0 would take memory.
        if (exact.scale() - (long) exact.precision() > 64) {
            exact = BigDecimal.ZERO;
        }
        BigDecimal steps = exact.movePointRight(places).divide(new BigDecimal(step), 0, RoundingMode.HALF_UP);
        BigInteger scaled = steps.toBigInteger().multiply(step);
        return quantum == null ? scaled : quantum.nearest(scaled);
    }

    /** Returns the units of a number, or null if it is not a whole number of them. */
    private BigInteger scaled(Object value) {
        BigInteger whole = Values.whole(value);
        if (whole != null) {
            return whole.multiply(unit);
        }
        if (!(value instanceof Double)) {
            return null;
        }
        double f = (Double) value;
        if (!Double.isFinite(f) || f == 0) {
            return null;
        }
        double near = Math.rint(f * Floats.POWERS[places]);
        if (Math.abs(near) < CERTAIN && near / Floats.POWERS[places] == f) {
            return BigInteger.valueOf((long) near);
        }
        BigDecimal units = Floats.shortest(f).movePointRight(places);
        return units.stripTrailingZeros().scale() > 0 ? null : units.toBigInteger();
    }

    /** Returns the number on the wire for a number of units, or null. */
    final BigInteger counted(BigInteger scaled) {
        if (scaled == null || quantum == null) {
            return scaled;
        }
        BigInteger count = quantum.nearest(scaled);
        return quantum.scaled(count).equals(scaled) ? count : null;
    }

    /** Returns the units of a number on the wire. */
    final BigInteger scaledOf(BigInteger n) {
        return quantum == null ? n : quantum.scaled(n);
    }
}
