package dev.dunnage.pson;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** The decimals of binary floats. */
public final class Decimals {
    /** Any decimal with at most this many digits is the shortest of its double. */
    private static final int SURE_DIGITS = 15;
    /** A double has at most this many digits in its shortest text. */
    private static final int MAX_DIGITS = 17;

    private Decimals() {}

    /**
     * Returns the shortest decimal that reads back as {@code f}; of several, the nearest. {@code Double.toString} of Java before 19 sometimes has
     * more digits.
     *
     * @param f a finite number
     * @return its decimal
     */
    public static BigDecimal shortest(double f) {
        BigDecimal exact = new BigDecimal(f);
        for (int digits = 1; digits < MAX_DIGITS; digits++) {
            BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (nearest.doubleValue() == f) {
                return nearest.stripTrailingZeros();
            }
            // Below a power of two, floats are closer together than above it, so that a decimal farther away may still be read as it.
            BigDecimal farther = exact.round(new MathContext(digits, nearest.abs().compareTo(exact.abs()) > 0 ? RoundingMode.DOWN : RoundingMode.UP));
            if (farther.doubleValue() == f) {
                return farther.stripTrailingZeros();
            }
        }
        return exact.round(new MathContext(MAX_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
    }

    /** Whether the double {@code f}, to which {@code value} was rounded, stands for it: it has its value, or its shortest decimal is {@code value}. */
    static boolean isOf(double f, BigDecimal value) {
        if (Double.isInfinite(f)) {
            return false;
        }
        boolean isNormal = Math.abs(f) >= Double.MIN_NORMAL;
        return isNormal && value.stripTrailingZeros().precision() <= SURE_DIGITS || new BigDecimal(f).compareTo(value) == 0 || shortest(f).compareTo(value) == 0;
    }
}
