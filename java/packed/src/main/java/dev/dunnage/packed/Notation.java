package dev.dunnage.packed;

import java.math.BigInteger;

/** What a whole number on the wire represents in the message. */
interface Notation {
    /**
     * Returns the whole number of a value, or null if no whole number represents it exactly. Does not check the range.
     *
     * @throws PackedException of kind {@code type} if the value has another type
     */
    BigInteger number(Object value);

    /** Returns the value of a whole number within the range. */
    Object value(BigInteger n);

    /** A whole number of the message. */
    final class Whole implements Notation {
        @Override
        public BigInteger number(Object value) {
            if (!(value instanceof Number)) {
                throw Values.wrongType("a number", value);
            }
            return Values.whole(value);
        }

        @Override
        public Object value(BigInteger n) {
            return Values.number(n);
        }
    }
}
