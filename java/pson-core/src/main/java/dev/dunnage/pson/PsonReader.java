package dev.dunnage.pson;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads a message item by item, where it is in memory: nothing is copied until it is asked for.
 *
 * <p>{@link #next} goes to the next item, whose value the other methods return. A reader checks everything except
 * duplicate keys in a map, which {@link Pson#decode(byte[])} rejects.
 */
public final class PsonReader extends Input {
    private static final int CANONICAL_NAN = 0x7fc00000;
    private static final long HUGE = 1L << 61;
    private static final long[] NONE = {};

    private final int maxNesting;
    private final KeyCache keys;

    /** The items that are left of the innermost map or array, or of the message; keys and values count apart, so a key is next if they are even. */
    private long left = 1;
    private boolean isMap;
    private int depth;
    /** The same of the maps and arrays around it; of a map, negated and less one. */
    private long[] around = NONE;

    /** The current item: its number, and its content. */
    private Token token;
    private long magnitude;
    private boolean isNegative;
    private double number;
    private boolean isAscii;
    /** The current key, if it is a known one. */
    private KeyCache.Key key;
    /** The last known key, from which the next one is predicted. */
    private KeyCache.Key lastKnown;

    PsonReader(byte[] bytes, ByteBuffer buffer, int start, int end, boolean strict, Limits limits, KeyCache keys) {
        super(bytes, buffer, start, end, strict);
        maxNesting = limits.nesting;
        this.keys = keys;
        lastKnown = keys.none;
        if (end - start > limits.size) {
            throw PsonException.decoding(Kind.LIMIT, limits.size, "the message has more than " + limits.size + " bytes");
        }
    }

    /**
     * Goes to the next item.
     *
     * @return its type, or null if the message has ended
     * @throws PsonException if the message is at fault here
     */
    public Token next() {
        if (left == 0) {
            return token = ended();
        }
        left--;
        if (isMap && (left & 1) != 0) {
            return token = key();
        }
        item = offset;
        int header = header();
        int n = header & 31;
        switch (header >> 5) {
            case Wire.UNSIGNED >> 5:
                isNegative = false;
                magnitude = n < Wire.VARINT ? n : varint();
                return token = Token.INTEGER;
            case Wire.NEGATIVE >> 5:
                isNegative = true;
                magnitude = n < Wire.VARINT ? n : varint();
                if (strict && magnitude == 0) {
                    throw malformed("zero is written as a negative integer");
                }
                return token = Token.INTEGER;
            case Wire.BINARY32 >> 5:
                return token = binary(n);
            case Wire.FALSE >> 5:
                return token = discrete(n);
            case Wire.TEXT >> 5:
                content(n);
                text();
                return token = Token.TEXT;
            case Wire.BYTES >> 5:
                content(n);
                return token = Token.BYTES;
            default:
                return token = container(header >> 5 == Wire.MAP >> 5, n);
        }
    }

    private Token ended() {
        if (depth > 0) {
            Token end = isMap ? Token.END_MAP : Token.END_ARRAY;
            pop();
            return end;
        }
        if (offset < end) {
            item = offset;
            throw malformed("bytes follow the message");
        }
        return null;
    }

    private Token key() {
        item = offset;
        int header = header();
        if (header >> 5 != Wire.TEXT >> 5) {
            throw malformed("a key is not a string");
        }
        content(header & 31);
        key = bytes != null ? keys.find(lastKnown, bytes, from, to - from) : null;
        if (key == null) {
            text();
        } else {
            lastKnown = key;
        }
        return Token.KEY;
    }

    private Token discrete(int n) {
        if (n > 2) {
            throw malformed("a discrete item is not false, true or null");
        }
        magnitude = n;
        return n == 2 ? Token.NULL : Token.BOOLEAN;
    }

    private Token binary(int n) {
        if (n > 1) {
            throw malformed("a float is neither binary32 nor binary64");
        }
        if (4 + 4 * n > end - offset) {
            throw truncated();
        }
        if (n == 0) {
            int bits = int32();
            float f = Float.intBitsToFloat(bits);
            number = f;
            if (strict && (isInteger(number) || f != f && bits != CANONICAL_NAN)) {
                throw malformed("a float is not in canonical form");
            }
        } else {
            long bits = int64();
            number = Double.longBitsToDouble(bits);
            if (strict && (isInteger(number) || number != number || (float) number == number)) {
                throw malformed("a float is not in canonical form");
            }
        }
        return Token.FLOAT;
    }

    /** Whether PSON writes a float as an integer. */
    static boolean isInteger(double f) {
        return f == Math.rint(f) && f >= -0x1p63 && f < 0x1p64 && Double.doubleToRawLongBits(f) != Long.MIN_VALUE;
    }

    private Token container(boolean map, int n) {
        if (depth == maxNesting) {
            throw PsonException.decoding(Kind.LIMIT, item - start, "maps and arrays are nested more than " + maxNesting + " levels");
        }
        magnitude = n < Wire.VARINT ? n : varint();
        push();
        // No message has as many items as the most that are counted.
        long items = magnitude < 0 || magnitude > HUGE ? HUGE : magnitude;
        left = map ? 2 * items : items;
        isMap = map;
        return map ? Token.MAP : Token.ARRAY;
    }

    private void push() {
        if (++depth == 1) {
            return;
        }
        if (depth - 2 == around.length) {
            around = Arrays.copyOf(around, 2 * depth);
        }
        around[depth - 2] = isMap ? ~left : left;
    }

    private void pop() {
        if (--depth == 0) {
            left = 0;
            isMap = false;
            return;
        }
        long outer = around[depth - 1];
        isMap = outer < 0;
        left = isMap ? ~outer : outer;
    }

    private void text() {
        isAscii = bytes != null && Utf8.isAscii(bytes, from, to);
        if (!isAscii && !Utf8.isValid(bytes, buffer, from, to)) {
            throw malformed("a string is not UTF-8");
        }
    }

    private PsonException fault(Kind kind, String reason) {
        return PsonException.decoding(kind, item - start, reason);
    }

    private void expect(boolean isIt, String expected) {
        if (!isIt) {
            throw fault(Kind.TYPE, (token == null ? "no item" : token.toString().toLowerCase()) + " is not " + expected);
        }
    }

    /**
     * Returns whether the next item is a key.
     *
     * @return true in a map, before each entry
     */
    public boolean isKeyNext() {
        return isMap && left != 0 && (left & 1) == 0;
    }

    /**
     * Returns where the current item begins.
     *
     * @return the offset in bytes from the start of the message
     */
    public int offset() {
        return item - start;
    }

    /**
     * Returns where the next item begins.
     *
     * @return the offset in bytes from the start of the message
     */
    public int nextOffset() {
        return offset - start;
    }

    /**
     * Returns the current item.
     *
     * @return its type; null before the first and after the last
     */
    public Token token() {
        return token;
    }

    /** Goes to the end of the current map or array. Does nothing at any other item. */
    public void skip() {
        if (token != Token.MAP && token != Token.ARRAY) {
            return;
        }
        int outside = depth - 1;
        while (depth > outside) {
            next();
        }
    }

    /**
     * Returns how many entries or elements the current map or array has.
     *
     * @return the number, of 64 bits without a sign, as the message announces it
     */
    public long size() {
        expect(token == Token.MAP || token == Token.ARRAY, "a map or an array");
        return magnitude;
    }

    /**
     * Returns the current boolean.
     *
     * @return true or false
     */
    public boolean booleanValue() {
        expect(token == Token.BOOLEAN, "a boolean");
        return magnitude == 1;
    }

    /**
     * Returns the current number, if it is an integer that a long holds. A float that is whole is one, except -0.0.
     *
     * @return the integer
     */
    public long longValue() {
        if (token == Token.INTEGER) {
            if (magnitude >= 0 || isNegative && magnitude == Long.MIN_VALUE) {
                return isNegative ? -magnitude : magnitude;
            }
        } else {
            expect(token == Token.FLOAT, "a number");
            if (isInteger(number) && number < 0x1p63) {
                return (long) number;
            }
        }
        throw fault(Kind.RANGE, "a number that is no integer from -2^63 to 2^63 - 1");
    }

    /**
     * Returns the current number, if it is an integer from -2^63 to 2^64 - 1.
     *
     * @return the integer
     */
    public BigInteger bigIntegerValue() {
        if (token == Token.INTEGER && magnitude < 0) {
            if (isNegative && magnitude != Long.MIN_VALUE) {
                throw fault(Kind.RANGE, "an integer is below -2^63");
            }
            BigInteger unsigned = BigInteger.valueOf(magnitude & Long.MAX_VALUE).setBit(63);
            return isNegative ? unsigned.negate() : unsigned;
        }
        if (token == Token.FLOAT && isInteger(number) && number >= 0x1p63) {
            return new java.math.BigDecimal(number).toBigIntegerExact();
        }
        return BigInteger.valueOf(longValue());
    }

    /**
     * Returns the current number, if a double holds it exactly.
     *
     * @return the number; also NaN or an infinity
     */
    public double doubleValue() {
        if (token == Token.FLOAT) {
            return number;
        }
        expect(token == Token.INTEGER, "a number");
        double f = magnitude >= 0 ? magnitude : 0x1p63 + 2.0 * ((magnitude & Long.MAX_VALUE) >>> 1);
        if (!isExact(f)) {
            throw fault(Kind.RANGE, "an integer that a double does not hold exactly");
        }
        return isNegative && magnitude != 0 ? -f : f;
    }

    /** Whether a double is the magnitude. */
    private boolean isExact(double f) {
        if (magnitude >= 0) {
            return f < 0x1p63 && (long) f == magnitude;
        }
        // The lowest of 64 significant bits are 0.
        return (magnitude & 0x7ff) == 0;
    }

    /**
     * Returns whether the current integer is below -2^63, so that no method returns it.
     *
     * @return true if it is
     */
    public boolean isBelowLong() {
        return token == Token.INTEGER && isNegative && magnitude < 0 && magnitude != Long.MIN_VALUE;
    }

    /**
     * Returns whether the current integer is in a long.
     *
     * @return false if it is above 2^63 - 1 or below -2^63
     */
    public boolean isLong() {
        return token == Token.INTEGER && (magnitude >= 0 || isNegative && magnitude == Long.MIN_VALUE);
    }

    /**
     * Returns the current text or key.
     *
     * @return the text
     */
    public String stringValue() {
        if (token == Token.KEY) {
            return keyValue();
        }
        expect(token == Token.TEXT, "text");
        return decoded();
    }

    private String keyValue() {
        if (key != null) {
            return key.text;
        }
        String text = decoded();
        if (bytes != null) {
            keys.addRead(text, bytes, from, to - from);
        }
        return text;
    }

    // Of a text in ASCII, this constructor makes the shortest machine code.
    @SuppressWarnings("deprecation")
    private String decoded() {
        if (bytes == null) {
            return StandardCharsets.UTF_8.decode(slice()).toString();
        }
        return isAscii ? new String(bytes, 0, from, to - from) : new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }

    /**
     * Returns whether the current text or key has these bytes, without a copy.
     *
     * @param utf8 the UTF-8 to compare with
     * @return true if it has
     */
    public boolean textEquals(byte[] utf8) {
        expect(token == Token.TEXT || token == Token.KEY, "text");
        if (bytes != null) {
            return Arrays.equals(bytes, from, to, utf8, 0, utf8.length);
        }
        return slice().equals(ByteBuffer.wrap(utf8));
    }

    /**
     * Returns the current text, key or byte string where it is.
     *
     * @return a read-only view of the message; of a text, its UTF-8
     */
    public ByteBuffer slice() {
        expect(token == Token.BYTES || token == Token.TEXT || token == Token.KEY, "text or bytes");
        ByteBuffer whole = bytes != null ? ByteBuffer.wrap(bytes) : buffer.duplicate();
        whole.limit(to).position(from);
        return whole.slice().asReadOnlyBuffer();
    }

    /**
     * Returns a copy of the current byte string.
     *
     * @return the bytes
     */
    public byte[] bytesValue() {
        expect(token == Token.BYTES, "a byte string");
        if (bytes != null) {
            return Arrays.copyOfRange(bytes, from, to);
        }
        byte[] copy = new byte[to - from];
        slice().get(copy);
        return copy;
    }
}
