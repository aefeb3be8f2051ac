package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON strictly and writes it in its canonical form (RFC 8785, with the members in the order given).
 *
 * <p>Values are null, Boolean, String, numbers as in {@link Values#number}, {@code List<Object>} and {@code Map<String, Object>}.
 */
final class Json {
    /** Each node of a layout takes up to three levels, and messages have at most 32 levels of arrays and objects. */
    private static final int MAX_NESTING = 512;
    private static final int MAX_LENGTH = 1 << 24;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a text that is one JSON value. */
    static Object parse(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new LayoutException("a text of more than " + MAX_LENGTH + " characters");
        }
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at < text.length()) {
            throw json.fault("text after the end");
        }
        return value;
    }

    private LayoutException fault(String reason) {
        return new LayoutException("invalid JSON: " + reason + " at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** Skips white space and returns the next character, or 0 at the end. */
    private char peek() {
        space();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean take(char c) {
        boolean found = peek() == c;
        at += found ? 1 : 0;
        return found;
    }

    private void expect(char c) {
        if (!take(c)) {
            throw fault("'" + c + "' expected");
        }
    }

    private Object value(int nesting) {
        if (nesting > MAX_NESTING) {
            throw fault("more than " + MAX_NESTING + " levels");
        }
        switch (peek()) {
            case '{':
                return object(nesting);
            case '[':
                return array(nesting);
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw fault("no value");
        }
        at += word.length();
        return value;
    }

    private Map<String, Object> object(int nesting) {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (take('}')) {
            return members;
        }
        do {
            if (peek() != '"') {
                throw fault("a name expected");
            }
            String name = string();
            expect(':');
            Object value = value(nesting + 1);
            if (members.containsKey(name)) {
                throw fault("duplicate key \"" + name + "\"");
            }
            members.put(name, value);
        } while (take(','));
        expect('}');
        return members;
    }

    private List<Object> array(int nesting) {
        List<Object> items = new ArrayList<>();
        expect('[');
        if (take(']')) {
            return items;
        }
        do {
            items.add(value(nesting + 1));
        } while (take(','));
        expect(']');
        return items;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        at++;
        while (true) {
            if (at >= text.length()) {
                throw fault("a string without an end");
            }
            char c = text.charAt(at++);
            if (c == '"') {
                break;
            }
            if (c < ' ') {
                throw fault("a control character in a string");
            }
            out.append(c == '\\' ? escape() : c);
        }
        String string = out.toString();
        if (!Values.isUnicode(string)) {
            throw fault("half of a surrogate pair");
        }
        return string;
    }

    private char escape() {
        char c = at < text.length() ? text.charAt(at++) : 0;
        int known = "\"\\/bfnrt".indexOf(c);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        if (c != 'u' || at + 4 > text.length()) {
            throw fault("an invalid escape");
        }
        int code = 0;
        for (int i = 0; i < 4; i++) {
            char digit = text.charAt(at++);
            int value = digit < 128 ? Character.digit(digit, 16) : -1;
            if (value < 0) {
                throw fault("an invalid escape");
            }
            code = code << 4 | value;
        }
        return (char) code;
    }

    private int digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw fault("no value");
        }
        return at - start;
    }

    private boolean next(String characters) {
        boolean found = at < text.length() && characters.indexOf(text.charAt(at)) >= 0;
        at += found ? 1 : 0;
        return found;
    }

    private Object number() {
        int start = at;
        next("-");
        boolean zero = at < text.length() && text.charAt(at) == '0';
        if (digits() > 1 && zero) {
            throw fault("a leading zero");
        }
        boolean whole = true;
        if (next(".")) {
            digits();
            whole = false;
        }
        if (next("eE")) {
            next("+-");
            digits();
            whole = false;
        }
        String digits = text.substring(start, at);
        if (whole && digits.length() <= 20) {
            return Values.number(new BigInteger(digits));
        }
        double number = Double.parseDouble(digits);
        if (Double.isInfinite(number)) {
            throw fault("a number beyond binary64");
        }
        return Values.number(number);
    }

    /** Appends the canonical text of a value. */
    static void write(Object value, StringBuilder out) {
        if (value instanceof String) {
            writeString((String) value, out);
        } else if (value instanceof Double) {
            writeFloat((Double) value, out);
        } else if (value instanceof List) {
            char before = '[';
            for (Object item : (List<?>) value) {
                write(item, out.append(before));
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                writeString((String) member.getKey(), out.append(before));
                write(member.getValue(), out.append(':'));
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else {
            out.append(value);
        }
    }

    private static void writeString(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int short_ = "\"\\\b\f\n\r\t".indexOf(c);
            if (short_ >= 0) {
                out.append('\\').append("\"\\bfnrt".charAt(short_));
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    /** Appends a float in the form of ECMAScript's Number::toString. */
    private static void writeFloat(double f, StringBuilder out) {
        if (f == 0) {
            out.append('0');
            return;
        }
        BigDecimal shortest = Floats.shortest(f);
        String digits = shortest.unscaledValue().abs().toString();
        int point = digits.length() - shortest.scale();
        out.append(f < 0 ? "-" : "");
        if (point > 21 || point < -5) {
            out.append(digits.charAt(0)).append(digits.length() > 1 ? "." : "").append(digits, 1, digits.length());
            out.append('e').append(point > 0 ? "+" : "").append(point - 1);
        } else {
            out.append(shortest.abs().toPlainString());
        }
    }
}
