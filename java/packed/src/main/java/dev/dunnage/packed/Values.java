package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The values of messages inside this library: null, Boolean, String, numbers, {@code List<Object>} and {@code Map<String, Object>}.
 *
 * <p>A number is a Long, a BigInteger from 2^63 to 2^64-1, or a Double that equals neither; -0.0 is a Double. A BigDecimal is a number that neither
 * 64-bit integers nor binary64 can represent.
 */
final class Values {
    private static final BigInteger LONG_MIN = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger UNSIGNED_MAX = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    /** Messages have at most 32 levels; values below this are left as they are, so that a list may contain itself. */
    private static final int MAX_NESTING = 64;

    private int left = Limits.MAX_VALUES;

    private Values() {}

    /** Returns a caller's value in the form described above. Objects of other types are kept, and the nodes reject them. */
    static Object of(Object value) {
        return new Values().convert(value, 0);
    }

    private Object convert(Object value, int nesting) {
        if (left-- == 0) {
            throw new PackedException(Kind.LIMIT, 0, "more than " + Limits.MAX_VALUES + " values");
        }
        if (value instanceof String) {
            if (!isUnicode((String) value)) {
                throw new PackedException(Kind.TYPE, 0, "text with a lone surrogate");
            }
            return value;
        }
        if (value instanceof Number) {
            return ofNumber((Number) value);
        }
        if (nesting == MAX_NESTING) {
            return value;
        }
        if (value instanceof Collection) {
            List<Object> items = new ArrayList<>();
            for (Object item : (Collection<?>) value) {
                try {
                    items.add(convert(item, nesting + 1));
                } catch (PackedException e) {
                    throw e.under(items.size());
                }
            }
            return items;
        }
        return value instanceof Map ? object((Map<?, ?>) value, nesting) : value;
    }

    private Object object(Map<?, ?> map, int nesting) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : map.entrySet()) {
            if (!(member.getKey() instanceof String)) {
                throw new PackedException(Kind.TYPE, 0, "the key " + Describe.brief(member.getKey()) + " is not a string");
            }
            String key = (String) member.getKey();
            try {
                members.put(key, convert(member.getValue(), nesting + 1));
            } catch (PackedException e) {
                throw e.under(key);
            }
        }
        return members;
    }

    private static Object ofNumber(Number value) {
        if (value instanceof Double || value instanceof Float) {
            return number(value.doubleValue());
        }
        if (value instanceof BigInteger) {
            return number((BigInteger) value);
        }
        if (value instanceof BigDecimal) {
            return number((BigDecimal) value);
        }
        boolean whole = value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
        if (!whole) {
            String reason = " is not a Long, Double or the like; pass its longValue() or doubleValue()";
            throw new PackedException(Kind.TYPE, 0, value.getClass().getName() + reason);
        }
        return value.longValue();
    }

    /** Returns the form of a whole number. */
    static Object number(BigInteger n) {
        if (n.bitLength() < 64) {
            return n.longValue();
        }
        return isWhole(n) ? n : number(new BigDecimal(n));
    }

    /** Returns the form of a float: a whole one within 64 bits is an integer. */
    static Object number(double f) {
        if (f != Math.rint(f) || Math.abs(f) > 0x1p64 || f == 0 && 1 / f < 0) {
            return f;
        }
        BigInteger n = new BigDecimal(f).toBigInteger();
        return isWhole(n) ? number(n) : (Object) f;
    }

    /** Returns the float whose exact value or shortest text is {@code d}, or an integer, or {@code d} if it is neither. */
    private static Object number(BigDecimal d) {
        // A number with this many digits before or after the point is not a float, and its digits would take memory.
        if (Math.abs((long) d.scale()) > 2000 || d.precision() > 2000) {
            return d;
        }
        if (d.stripTrailingZeros().scale() <= 0 && isWhole(d.toBigInteger())) {
            return number(d.toBigInteger());
        }
        double f = d.doubleValue();
        boolean exact = !Double.isInfinite(f) && (new BigDecimal(f).compareTo(d) == 0 || Floats.shortest(f).compareTo(d) == 0);
        return exact ? number(f) : d;
    }

    private static boolean isWhole(BigInteger n) {
        return n.compareTo(LONG_MIN) >= 0 && n.compareTo(UNSIGNED_MAX) <= 0;
    }

    /** Returns the whole number that 64 bits are without a sign. */
    static BigInteger unsigned(long n) {
        BigInteger low = BigInteger.valueOf(n & Long.MAX_VALUE);
        return n < 0 ? low.setBit(Long.SIZE - 1) : low;
    }

    /** Returns a number as a whole number, or null if it is not one of 64 bits. */
    static BigInteger whole(Object value) {
        if (value instanceof Long) {
            return BigInteger.valueOf((Long) value);
        }
        return value instanceof BigInteger ? (BigInteger) value : null;
    }

    /** Whether a text has no half of a surrogate pair, so that it has a form in UTF-8. */
    static boolean isUnicode(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    /** Whether two values are the same for constants and choices: the order of an object's members does not matter. */
    static boolean same(Object a, Object b) {
        if (a instanceof List && b instanceof List) {
            List<?> as = (List<?>) a;
            List<?> bs = (List<?>) b;
            boolean same = as.size() == bs.size();
            for (int i = 0; same && i < as.size(); i++) {
                same = same(as.get(i), bs.get(i));
            }
            return same;
        }
        if (a instanceof Map && b instanceof Map) {
            Map<?, ?> other = (Map<?, ?>) b;
            boolean same = ((Map<?, ?>) a).size() == other.size();
            for (Map.Entry<?, ?> member : ((Map<?, ?>) a).entrySet()) {
                same = same && other.containsKey(member.getKey()) && same(member.getValue(), other.get(member.getKey()));
            }
            return same;
        }
        return a == null ? b == null : a.equals(b);
    }

    /** Whether two scalars have the same type of JSON. */
    static boolean isLike(Object a, Object b) {
        return a instanceof Number ? b instanceof Number : a != null && b != null && a.getClass() == b.getClass();
    }

    static PackedException wrongType(String expected, Object value) {
        return new PackedException(Kind.TYPE, 0, Describe.brief(value) + " is not " + expected + Describe.instead(value));
    }
}
