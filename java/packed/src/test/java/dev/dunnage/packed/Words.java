package dev.dunnage.packed;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values in a line: {@code conform/README.md}. */
final class Words {
    private Words() {}

    static Object read(Iterator<String> words) {
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
                return new BigInteger(rest);
            case 'd':
                return Double.longBitsToDouble(Long.parseUnsignedLong(rest, 16));
            case 's':
                return new String(bytes(rest), StandardCharsets.UTF_8);
            case 'b':
                return bytes(rest);
            case 'a':
                List<Object> items = new ArrayList<>();
                for (int left = Integer.parseInt(rest); left > 0; left--) {
                    items.add(read(words));
                }
                return items;
            case 'm':
                Map<Object, Object> members = new LinkedHashMap<>();
                for (int left = Integer.parseInt(rest); left > 0; left--) {
                    members.put(read(words), read(words));
                }
                return members;
            default:
                throw new IllegalArgumentException(word);
        }
    }

    static void write(Object value, StringBuilder out) {
        out.append(' ');
        if (value == null) {
            out.append('n');
        } else if (value instanceof Boolean) {
            out.append((Boolean) value ? 't' : 'f');
        } else if (value instanceof Double) {
            out.append(String.format("d%016x", Double.doubleToLongBits((Double) value)));
        } else if (value instanceof Number) {
            out.append('i').append(value);
        } else if (value instanceof String) {
            out.append('s').append(hex(((String) value).getBytes(StandardCharsets.UTF_8)));
        } else if (value instanceof byte[]) {
            out.append('b').append(hex((byte[]) value));
        } else if (value instanceof List) {
            out.append('a').append(((List<?>) value).size());
            ((List<?>) value).forEach(item -> write(item, out));
        } else {
            out.append('m').append(((Map<?, ?>) value).size());
            ((Map<?, ?>) value).forEach((key, member) -> {
                write(key, out);
                write(member, out);
            });
        }
    }

    static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return hex.toString();
    }
}
