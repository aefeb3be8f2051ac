package dev.dunnage.pson;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The words of conform/README.md, "Values in a line". */
final class Words {
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private Words() {}

    static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(2 * bytes.length);
        for (byte b : bytes) {
            text.append(DIGITS[b >> 4 & 15]).append(DIGITS[b & 15]);
        }
        return text.toString();
    }

    static byte[] unhex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    static void text(StringBuilder out, String text) {
        out.append('s').append(hex(text.getBytes(StandardCharsets.UTF_8)));
    }

    static void number(StringBuilder out, double f) {
        if (PsonReader.isInteger(f)) {
            out.append('i').append(new java.math.BigDecimal(f).toBigInteger());
        } else {
            out.append('d').append(f == f ? String.format("%016x", Double.doubleToRawLongBits(f)) : "7ff8000000000000");
        }
    }

    /** Appends a value, with a space before each word. */
    static void describe(Object value, StringBuilder out) {
        out.append(' ');
        if (value == null) {
            out.append('n');
        } else if (value instanceof Boolean) {
            out.append((Boolean) value ? 't' : 'f');
        } else if (value instanceof String) {
            text(out, (String) value);
        } else if (value instanceof Double) {
            number(out, (Double) value);
        } else if (value instanceof Number) {
            out.append('i').append(value);
        } else if (value instanceof byte[]) {
            out.append('b').append(hex((byte[]) value));
        } else if (value instanceof List) {
            out.append('a').append(((List<?>) value).size());
            ((List<?>) value).forEach(item -> describe(item, out));
        } else {
            out.append('m').append(((Map<?, ?>) value).size());
            ((Map<?, ?>) value).forEach((key, item) -> {
                describe(key, out);
                describe(item, out);
            });
        }
    }

    /** Reads a value from its words; null words for a map with a duplicate key, which a Map cannot have. */
    static Object parse(Iterator<String> words) {
        String word = words.next();
        String rest = word.substring(1);
        switch (word.charAt(0)) {
            case 'n':
                return null;
            case 't':
                return true;
            case 'f':
                return false;
            case 'i':
                BigInteger n = new BigInteger(rest);
                return n.bitLength() < 64 ? (Object) n.longValue() : n;
            case 'd':
                return Double.longBitsToDouble(Long.parseUnsignedLong(rest, 16));
            case 's':
                return new String(unhex(rest), StandardCharsets.UTF_8);
            case 'b':
                return unhex(rest);
            case 'a':
                List<Object> list = new ArrayList<>();
                for (int i = Integer.parseInt(rest); i > 0; i--) {
                    list.add(parse(words));
                }
                return list;
            default:
                Map<String, Object> map = new LinkedHashMap<>();
                boolean isTwice = false;
                for (int i = Integer.parseInt(rest); i > 0; i--) {
                    String key = (String) parse(words);
                    isTwice |= map.containsKey(key);
                    map.put(key, parse(words));
                }
                if (isTwice) {
                    throw new UnsupportedOperationException();
                }
                return map;
        }
    }
}
