package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;

/** The meaning of a whole number on the wire in the message. */
interface Notation {
    /**
     * Returns the whole number of a value, or null if no whole number represents it exactly. Does not check the range.
     *
     * @throws PackedException of kind {@code type} if the value has another type
     */
    BigInteger number(Object value);

    /** Returns the value of a whole number within the range. */
    Object value(BigInteger n);

    /** Returns a whole number as the reason of an error shows it. */
    String shown(BigInteger n);

    /** Returns the expectation that a value violates if it is not one of the numbers, for the reason of an error. {@code first} is the first of them.
     * */
    String expected(Object value, BigInteger first, BigInteger step);

    /** A whole number of the message. */
    final class Whole implements Notation {
        @Override
        public BigInteger number(Object value) {
            if (!(value instanceof Number)) {
                throw Values.wrongType("an integer", value);
            }
            return Values.whole(value);
        }

        @Override
        public Object value(BigInteger n) {
            return Values.number(n);
        }

        @Override
        public String shown(BigInteger n) {
            return n.toString();
        }

        @Override
        public String expected(Object value, BigInteger first, BigInteger step) {
            if (Values.whole(value) != null) {
                return "a multiple of " + step;
            }
            boolean isWide = value instanceof BigDecimal
                ? ((BigDecimal) value).stripTrailingZeros().scale() <= 0
                : value instanceof Double && Double.isFinite((Double) value) && Math.rint((Double) value) == (Double) value;
            return isWide ? "a whole number of 64 bits" : "a whole number";
        }
    }
}
