package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** The decimals of binary floats. */
final class Floats {
    /** The powers of ten that binary64 holds exactly, up to the largest number of decimal places. */
    static final double[] POWERS = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    /** A double has at most this many significant decimal digits in its shortest text. */
    private static final int MAX_DIGITS = 17;

    private Floats() {}

    /**
     * Returns the shortest decimal that reads back as {@code f}, a finite number; of several, the nearest to {@code f}, and of two as near
     * the one whose last digit is even. {@code Double.toString} of Java before 19 sometimes has more digits.
     */
    static BigDecimal shortest(double f) {
        BigDecimal exact = new BigDecimal(f);
        for (int digits = 1; digits < MAX_DIGITS; digits++) {
            BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (nearest.doubleValue() == f) {
                return strip(nearest);
            }
            // Below a power of two, floats are closer together than above it, so that a decimal farther away may still be read as it.
            BigDecimal farther = exact.round(new MathContext(digits, nearest.abs().compareTo(exact.abs()) > 0 ? RoundingMode.DOWN : RoundingMode.UP));
            if (farther.doubleValue() == f) {
                return strip(farther);
            }
        }
        return strip(exact.round(new MathContext(MAX_DIGITS, RoundingMode.HALF_EVEN)));
    }

    private static BigDecimal strip(BigDecimal d) {
        return d.stripTrailingZeros();
    }
}
