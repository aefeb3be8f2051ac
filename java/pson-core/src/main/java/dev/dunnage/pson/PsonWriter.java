package dev.dunnage.pson;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a message item by item, in canonical form, into memory that grows with it.
 *
 * <p>Between {@link #startMap} and {@link #end}, each value has a {@link #key} before it. A writer does not look for keys that occur twice.
 */
public final class PsonWriter {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Up to this length, a loop is faster than native code, and the header is one byte. */
    private static final int SHORT = 24;
    private static final int CANONICAL_NAN = 0x7fc00000;
    /** The most bytes of an item without content: a header and a varint of 10 bytes. */
    private static final int LONGEST = 11;
    /** The bytes of memory to begin with. */
    static final int ROOM = 256;
    /** The most digits of an integer. */
    private static final int DIGITS = 20;
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();

    private final Limits limits;
    private final boolean isSingle;
    private byte[] bytes;
    private int length;
    /** The innermost open map or array, or the message: how many items it has so far. Keys and values of a map count apart. */
    private int count;
    private boolean isMap;
    private int depth;
    /** Where the header of each open map or array is, and what is around it. */
    private int[] starts = new int[8];
    private int[] counts = new int[8];
    private boolean[] maps = new boolean[8];

    PsonWriter(Limits limits, boolean isSingle, byte[] memory) {
        this.limits = limits;
        this.isSingle = isSingle;
        bytes = memory;
    }

    /** Forgets what was written. The memory is used again. */
    public void reset() {
        length = 0;
        depth = 0;
        count = 0;
        isMap = false;
    }

    /** Writes null. */
    public void writeNull() {
        discrete(Wire.NULL);
    }

    /**
     * Writes a boolean.
     *
     * @param value true or false
     */
    public void writeBoolean(boolean value) {
        discrete(value ? Wire.TRUE : Wire.FALSE);
    }

    private void discrete(int header) {
        value();
        reserve(1);
        bytes[length++] = (byte) header;
    }

    /**
     * Writes an integer.
     *
     * @param n the integer
     */
    public void writeLong(long n) {
        value();
        // The magnitude of -2^63 is 2^63, as a number without a sign.
        header(n < 0 ? Wire.NEGATIVE : Wire.UNSIGNED, n < 0 ? -n : n);
    }

    /**
     * Writes an integer.
     *
     * @param n the integer, -2^63 to 2^64 - 1
     */
    public void writeBigInteger(BigInteger n) {
        if (n.bitLength() > (n.signum() < 0 ? 63 : 64) || n.compareTo(LEAST) < 0) {
            throw PsonException.encoding(Kind.RANGE, "an integer is outside of -2^63 to 2^64 - 1");
        }
        value();
        header(n.signum() < 0 ? Wire.NEGATIVE : Wire.UNSIGNED, n.abs().longValue());
    }

    /**
     * Writes a number in the shortest form that holds it exactly: as an integer if it is whole, else as binary32 or binary64.
     *
     * @param f the number; also NaN or an infinity
     */
    public void writeDouble(double f) {
        if (PsonReader.isInteger(f)) {
            whole(f);
            return;
        }
        float rounded = (float) f;
        if (rounded != f && f == f && isSingle && !Float.isInfinite(rounded)) {
            writeDouble(rounded);
            return;
        }
        value();
        reserve(LONGEST);
        if (rounded == f || f != f) {
            bytes[length] = Wire.BINARY32;
            INTS.set(bytes, length + 1, f == f ? Float.floatToRawIntBits(rounded) : CANONICAL_NAN);
            length += 5;
        } else {
            bytes[length] = Wire.BINARY64;
            LONGS.set(bytes, length + 1, Double.doubleToRawLongBits(f));
            length += 9;
        }
    }

    private void whole(double f) {
        if (f < 0x1p63) {
            writeLong((long) f);
        } else {
            value();
            header(Wire.UNSIGNED, (long) (f - 0x1p63) ^ Long.MIN_VALUE);
        }
    }

    /**
     * Writes a decimal, if it is an integer or if a double stands for it: its shortest text, or its value.
     *
     * @param value the decimal
     */
    public void writeDecimal(BigDecimal value) {
        boolean isWhole = value.signum() == 0 || value.stripTrailingZeros().scale() <= 0;
        if (isWhole && value.precision() - value.scale() <= DIGITS) {
            writeBigInteger(value.toBigIntegerExact());
            return;
        }
        double f = value.doubleValue();
        if (Double.isInfinite(f) || new BigDecimal(Double.toString(f)).compareTo(value) != 0 && new BigDecimal(f).compareTo(value) != 0) {
            throw PsonException.encoding(Kind.RANGE, "a decimal that no double stands for");
        }
        writeDouble(f);
    }

    /**
     * Writes text.
     *
     * @param text the text
     */
    public void writeString(String text) {
        value();
        text(text);
    }

    /**
     * Writes a byte string.
     *
     * @param content the array that has it
     * @param from the index of its first byte
     * @param size the number of bytes
     */
    public void writeBytes(byte[] content, int from, int size) {
        value();
        reserve(LONGEST + size);
        header(Wire.BYTES, size);
        System.arraycopy(content, from, bytes, length, size);
        length += size;
    }

    /**
     * Writes a byte string.
     *
     * @param content the bytes from its position to its limit, which stay as they are
     */
    public void writeBytes(ByteBuffer content) {
        value();
        int size = content.remaining();
        reserve(LONGEST + size);
        header(Wire.BYTES, size);
        content.duplicate().get(bytes, length, size);
        length += size;
    }

    /** Begins a map. Its number of entries need not be known. */
    public void startMap() {
        start(true);
    }

    /** Begins an array. Its number of elements need not be known. */
    public void startArray() {
        start(false);
    }

    private void start(boolean map) {
        if (depth == limits.nesting) {
            throw PsonException.encoding(Kind.LIMIT, "maps and arrays are nested more than " + limits.nesting + " levels, or contain themselves");
        }
        value();
        if (depth == starts.length) {
            starts = Arrays.copyOf(starts, 2 * depth);
            counts = Arrays.copyOf(counts, 2 * depth);
            maps = Arrays.copyOf(maps, 2 * depth);
        }
        reserve(1);
        starts[depth] = length++;
        counts[depth] = count;
        maps[depth++] = isMap;
        count = 0;
        isMap = map;
    }

    /**
     * Writes the key of the next value.
     *
     * @param key the key
     */
    public void key(String key) {
        countKey();
        text(key);
    }

    /**
     * Writes the key of the next value.
     *
     * @param utf8 the UTF-8 of the key, which is not checked
     */
    public void keyUtf8(byte[] utf8) {
        countKey();
        reserve(LONGEST + utf8.length);
        header(Wire.TEXT, utf8.length);
        System.arraycopy(utf8, 0, bytes, length, utf8.length);
        length += utf8.length;
    }

    private void countKey() {
        if (!isMap || (count & 1) == 1) {
            throw PsonException.encoding(Kind.TYPE, "a key where none belongs");
        }
        count++;
    }

    /** Ends the innermost map or array. */
    public void end() {
        if (depth == 0 || isMap && (count & 1) == 1) {
            throw PsonException.encoding(Kind.TYPE, depth == 0 ? "no map or array to end" : "a key without a value");
        }
        int type = isMap ? Wire.MAP : Wire.ARRAY;
        int n = isMap ? count / 2 : count;
        int at = starts[--depth];
        count = counts[depth];
        isMap = maps[depth];
        if (n < Wire.VARINT) {
            bytes[at] = (byte) (type | n);
            return;
        }
        // One byte was left for the header. The items make room for the varint.
        int more = varintLength(n);
        reserve(more);
        System.arraycopy(bytes, at + 1, bytes, at + 1 + more, length - at - 1);
        int after = length + more;
        length = at;
        header(type, n);
        length = after;
    }

    /** Counts a value of the map or array around it. */
    private void value() {
        if (isMap ? (count & 1) == 0 : depth == 0 && count > 0) {
            throw PsonException.encoding(Kind.TYPE, isMap ? "a value of a map without a key" : "a message has one value");
        }
        count++;
    }

    private void header(int type, long n) {
        reserve(LONGEST);
        if (n >= 0 && n < Wire.VARINT) {
            bytes[length++] = (byte) (type | n);
            return;
        }
        bytes[length++] = (byte) (type | Wire.VARINT);
        for (; (n & ~0x7fL) != 0; n >>>= 7) {
            bytes[length++] = (byte) (n | 0x80);
        }
        bytes[length++] = (byte) n;
    }

    private static int varintLength(int n) {
        int size = 1;
        for (; n > 0x7f; n >>>= 7) {
            size++;
        }
        return size;
    }

    @SuppressWarnings("deprecation")
    private void text(String text) {
        int n = text.length();
        reserve(LONGEST + n);
        int at = length;
        if (n <= SHORT && shortText(text, n)) {
            return;
        }
        int content = at + (n < Wire.VARINT ? 1 : 1 + varintLength(n));
        // Copies the low byte of each character, which is all of it in ASCII. Whether it is ASCII shows afterwards.
        text.getBytes(0, n, bytes, content);
        if (Utf8.ascii(bytes, content, content + n) == content + n && isAscii(text, n)) {
            header(Wire.TEXT, n);
            length = content + n;
            return;
        }
        length = at;
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (hasLoneSurrogate(text)) {
            throw PsonException.encoding(Kind.TYPE, "a string has a lone surrogate, which UTF-8 cannot express");
        }
        reserve(LONGEST + utf8.length);
        header(Wire.TEXT, utf8.length);
        System.arraycopy(utf8, 0, bytes, length, utf8.length);
        length += utf8.length;
    }

    /** Writes a text of few characters if it is ASCII. There is room for it. */
    private boolean shortText(String text, int n) {
        byte[] into = bytes;
        int content = length + 1;
        int all = 0;
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            all |= c;
            into[content + i] = (byte) c;
        }
        if (all >= 0x80) {
            return false;
        }
        into[length] = (byte) (Wire.TEXT | n);
        length = content + n;
        return true;
    }

    /** Whether no character has more than its low byte, which was ASCII. */
    private static boolean isAscii(String text, int n) {
        int all = 0;
        for (int i = 0; i < n; i++) {
            all |= text.charAt(i);
        }
        return all < 0x80;
    }

    private static boolean hasLoneSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) {
                continue;
            }
            if (!Character.isHighSurrogate(c) || ++i == text.length() || !Character.isLowSurrogate(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    private void reserve(int more) {
        if (bytes.length - length < more) {
            grow(more);
        }
    }

    private void grow(int more) {
        if (length > limits.size) {
            throw oversized();
        }
        long size = Math.max(2L * bytes.length, (long) length + more);
        bytes = Arrays.copyOf(bytes, (int) Math.min(size, Integer.MAX_VALUE - 64));
    }

    private PsonException oversized() {
        return PsonException.ofMessage(Kind.LIMIT, "the message has more than " + limits.size + " bytes");
    }

    /** Checks that the message is whole. */
    private void finish() {
        if (count == 0 || depth > 0) {
            throw PsonException.encoding(Kind.TYPE, depth > 0 ? "a map or an array has no end" : "no value was written");
        }
        if (length > limits.size) {
            throw oversized();
        }
    }

    /**
     * Returns the size of the message so far.
     *
     * @return the number of bytes
     */
    public int size() {
        return length;
    }

    /**
     * Returns the message.
     *
     * @return a copy of its bytes
     */
    public byte[] toByteArray() {
        finish();
        return Arrays.copyOf(bytes, length);
    }

    /**
     * Writes the message to a stream.
     *
     * @param out the stream
     * @throws IOException if the stream throws it
     */
    public void writeTo(OutputStream out) throws IOException {
        finish();
        out.write(bytes, 0, length);
    }

    /**
     * Writes the message to a buffer, all of it or nothing.
     *
     * @param out the buffer, whose position moves behind the message
     */
    public void writeTo(ByteBuffer out) {
        finish();
        if (out.remaining() < length) {
            throw PsonException.encoding(Kind.TRUNCATED, "the message has " + length + " bytes, and the buffer room for " + out.remaining());
        }
        out.put(bytes, 0, length);
    }
}
