package dev.dunnage.packed;

import java.math.BigInteger;

/** Text that is a number in one notation: its digits before the point are padded with zeros, and it has all its decimals. */
final class TextNotation extends DecimalNotation {
    /** The most digits before the point that a notation pads to. */
    static final int MAX_DIGITS = 18;
    /** A sign, a point and the digits of the largest number; longer text is out of every range. */
    private static final int LONGEST = 64;

    private final int digits;

    TextNotation(int places, int digits, Quantum quantum) {
        super(places, quantum);
        this.digits = digits;
    }

    @Override
    public BigInteger number(Object value) {
        if (!(value instanceof String)) {
            throw Values.wrongType("a string that holds a number", value);
        }
        return counted(scan((String) value));
    }

    private BigInteger scan(String text) {
        boolean negative = text.startsWith("-");
        String rest = negative ? text.substring(1) : text;
        int whole = rest.length() - (places == 0 ? 0 : places + 1);
        boolean fits = rest.length() <= LONGEST && whole >= digits && (places == 0 || rest.charAt(whole) == '.');
        if (!fits || whole > digits && rest.charAt(0) == '0') {
            return null;
        }
        String all = rest.substring(0, whole) + (places == 0 ? "" : rest.substring(whole + 1));
        for (int i = 0; i < all.length(); i++) {
            if (all.charAt(i) < '0' || all.charAt(i) > '9') {
                return null;
            }
        }
        BigInteger n = new BigInteger(all);
        return !negative ? n : n.signum() == 0 ? null : n.negate();
    }

    @Override
    public String value(BigInteger n) {
        return Describe.fixed(scaledOf(n), places, digits);
    }

    @Override
    public String expected(Object value, BigInteger first, BigInteger step) {
        boolean isNumber = scan((String) value) != null;
        return isNumber ? super.expected(value, first, step) : "a number with " + digits + " or more digits and " + places + " decimals";
    }
}
