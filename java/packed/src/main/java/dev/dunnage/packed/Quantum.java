package dev.dunnage.packed;

import java.math.BigInteger;
import java.util.List;

/** A sensor's unit: k counts are offset + k * mantissa / divisor, rounded half away from zero to the units of a number. */
final class Quantum {
    private final BigInteger mantissa;
    private final int more;
    private final long divisor;
    private final long offset;
    /** The offset in terms of the mantissa. */
    private final BigInteger base;
    /** A unit of the number in terms of the mantissa. */
    private final BigInteger unit;

    /** {@code more} are the places by which the mantissa is finer than the number. */
    Quantum(BigInteger mantissa, int more, long divisor, long offset) {
        this.mantissa = mantissa;
        this.more = more;
        this.divisor = divisor;
        this.offset = offset;
        base = BigInteger.valueOf(offset).multiply(BigInteger.valueOf(divisor));
        unit = BigInteger.TEN.pow(more).multiply(BigInteger.valueOf(divisor));
    }

    /** Returns the units of {@code count} counts. */
    BigInteger scaled(BigInteger count) {
        return rounded(count.multiply(mantissa).add(base), unit);
    }

    /** Returns the count whose number is nearest to {@code scaled} units. */
    BigInteger nearest(BigInteger scaled) {
        BigInteger count = rounded(scaled.multiply(unit).subtract(base), mantissa);
        // If a quantum is about as large as a unit, rounding twice may lead to a neighbour.
        BigInteger nearest = count;
        for (BigInteger near : List.of(count.subtract(BigInteger.ONE), count.add(BigInteger.ONE))) {
            if (distance(near, scaled).compareTo(distance(nearest, scaled)) < 0) {
                nearest = near;
            }
        }
        return nearest;
    }

    /** Returns the counts of numbers with {@code places} decimals: {@code 0.7324443}, or {@code 175 / 65535 from -45}. */
    String toText(int places) {
        String text = Describe.plain(mantissa, places + more) + (divisor > 1 ? " / " + divisor : "");
        return offset == 0 ? text : text + " from " + Describe.plain(BigInteger.valueOf(offset), places + more);
    }

    private BigInteger distance(BigInteger count, BigInteger scaled) {
        return scaled(count).subtract(scaled).abs();
    }

    /** Returns n / d, rounded half away from zero. */
    private static BigInteger rounded(BigInteger n, BigInteger d) {
        BigInteger magnitude = n.abs().add(d.shiftRight(1)).divide(d);
        return n.signum() < 0 ? magnitude.negate() : magnitude;
    }
}
