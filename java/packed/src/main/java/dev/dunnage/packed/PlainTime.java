package dev.dunnage.packed;

import java.math.BigInteger;

/** The usual form of a date-time, {@code YYYY-MM-DDThh:mm:ssZ}, as the seconds since 1970 in a modelled body. */
final class PlainTime {
    private static final TimeNotation NOTATION = new TimeNotation("YYYY-MM-DDThh:mm:ssZ", 0);
    /** 0000-01-01 and 10000-01-01, in seconds since 1970-01-01T00:00:00Z. */
    private static final long YEAR_0 = -62_167_219_200L;
    private static final long YEAR_10000 = 253_402_300_800L;

    private PlainTime() {}

    /** Returns the seconds since 1970 of a text, or null if it has another form. */
    static BigInteger seconds(String text) {
        return NOTATION.number(text);
    }

    static void write(int node, BigInteger seconds, Sink sink) {
        boolean negative = seconds.signum() < 0;
        sink.index(Part.key(node, Part.SIGN), negative ? 1 : 0, 2);
        sink.sized(Part.key(node, Part.VALUE), (negative ? seconds.not() : seconds).longValue());
    }

    static String read(int node, Source source) {
        int offset = source.offset();
        boolean negative = source.index(Part.key(node, Part.SIGN), 2) == 1;
        long size = source.sized(Part.key(node, Part.VALUE));
        long seconds = negative ? ~size : size;
        // A size of 64 bits changes the sign.
        if (size < 0 || seconds < YEAR_0 || seconds >= YEAR_10000) {
            throw new PackedException(Kind.RANGE, offset, "a time beyond the years 0 to 9999");
        }
        return NOTATION.value(BigInteger.valueOf(seconds));
    }
}
