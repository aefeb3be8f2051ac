package dev.dunnage.packed;

import java.math.BigInteger;
import java.time.temporal.TemporalAccessor;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Describes values for the reasons of errors. */
final class Describe {
    /** The most characters of a value or text that a reason quotes. */
    private static final int QUOTED = 40;
    /** The most listed values that a reason names. */
    private static final int NAMED = 8;

    private Describe() {}

    /** Returns text in quotes, truncated if it is long. */
    static String quoted(String text) {
        boolean isLong = text.codePointCount(0, text.length()) > QUOTED;
        StringBuilder out = new StringBuilder();
        Json.write(isLong ? text.substring(0, text.offsetByCodePoints(0, QUOTED)) : text, out);
        return out.append(isLong ? "…" : "").toString();
    }

    /** Returns a value: scalars as they are, arrays and objects by their size, and the class of anything else. */
    static String brief(Object value) {
        if (value instanceof String) {
            return quoted((String) value);
        } else if (value instanceof List) {
            return "an array of " + ((List<?>) value).size();
        } else if (value instanceof Map) {
            return "an object of " + ((Map<?, ?>) value).size();
        } else if (value == null || value instanceof Boolean || value instanceof Number) {
            return truncated(String.valueOf(value));
        }
        return value.getClass().getTypeName();
    }

    /** Returns advice on what to pass instead of a time of Java. Returns an empty text for other values. */
    static String instead(Object value) {
        boolean isTime = value instanceof TemporalAccessor || value instanceof Date;
        return isTime ? "; pass text, such as toString() of an Instant, or the number that the schema wants" : "";
    }

    /** Returns a value of the layout as JSON, truncated if it is long. */
    static String shown(Object value) {
        if (!(value instanceof List || value instanceof Map)) {
            return brief(value);
        }
        StringBuilder json = new StringBuilder();
        Json.write(value, json);
        return truncated(json.toString());
    }

    /** Lists values of the layout. */
    static String listed(List<?> values) {
        String named = values.stream().limit(NAMED).map(Describe::shown).collect(Collectors.joining(", "));
        return named + (values.size() > NAMED ? ", …" : "");
    }

    /** Returns units of 10^-places as text with all decimals, and {@code digits} or more digits before the point. */
    static String fixed(BigInteger units, int places, int digits) {
        StringBuilder text = new StringBuilder(units.abs().toString());
        while (text.length() < digits + places) {
            text.insert(0, '0');
        }
        if (places > 0) {
            text.insert(text.length() - places, '.');
        }
        return (units.signum() < 0 ? text.insert(0, '-') : text).toString();
    }

    /** Returns the same without the zeros at the end. */
    static String plain(BigInteger units, int places) {
        String text = fixed(units, places, 1);
        return places == 0 ? text : text.replaceFirst("\\.?0+$", "");
    }

    private static String truncated(String text) {
        return text.length() > QUOTED ? text.substring(0, QUOTED) + "…" : text;
    }
}
