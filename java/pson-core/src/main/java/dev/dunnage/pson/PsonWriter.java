package dev.dunnage.pson;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Writes a message item by item, in canonical form, into memory that grows with it.
 *
 * <p>Between {@link #startMap} and {@link #end}, each value has a {@link #key} before it. A writer does not detect duplicate keys.
 */
public final class PsonWriter extends Output {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int CANONICAL_NAN = 0x7fc00000;
    /** The bytes of memory to begin with. */
    static final int ROOM = 256;
    /** The most digits of an integer. */
    private static final int DIGITS = 20;
    private static final int[] NONE = {};
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();

    private final boolean isSingle;
    private final KeyCache keys;
    /** The innermost open map or array, or the message: how many items it has so far. Keys and values of a map count apart. */
    private int count;
    private boolean isMap;
    /** Where it begins, and where its items do. */
    private int start;
    private int content;
    private int depth;
    /** The same of the maps and arrays around it: count, start, and content, which is negative in a map. */
    private int[] around = NONE;

    PsonWriter(Limits limits, boolean isSingle, KeyCache keys, byte[] memory) {
        super(limits, memory);
        this.isSingle = isSingle;
        this.keys = keys;
    }

    /** Discards the output. The memory is reused. */
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
        if (!fits(n)) {
            throw PsonException.encoding(Kind.RANGE, "an integer is outside of -2^63 to 2^64 - 1");
        }
        value();
        header(n.signum() < 0 ? Wire.NEGATIVE : Wire.UNSIGNED, n.abs().longValue());
    }

    private static boolean fits(BigInteger n) {
        return n.bitLength() <= (n.signum() < 0 ? 63 : 64) && n.compareTo(LEAST) >= 0;
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
     * Writes a decimal if it is an integer of up to 64 bits, or if a double has its value or its shortest text is the decimal.
     *
     * @param value the decimal
     */
    public void writeDecimal(BigDecimal value) {
        boolean isWhole = value.signum() == 0 || value.stripTrailingZeros().scale() <= 0;
        if (isWhole && value.precision() - value.scale() <= DIGITS) {
            BigInteger n = value.toBigIntegerExact();
            if (fits(n)) {
                writeBigInteger(n);
                return;
            }
        }
        double f = value.doubleValue();
        if (!Decimals.isOf(f, value)) {
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
        start(true, 0);
    }

    /**
     * Begins a map.
     *
     * @param entries how many entries it will probably have, so that they need not be moved at its end
     */
    public void startMap(int entries) {
        start(true, entries);
    }

    /** Begins an array. Its number of elements need not be known. */
    public void startArray() {
        start(false, 0);
    }

    /**
     * Begins an array.
     *
     * @param elements how many elements it will probably have, so that they need not be moved at its end
     */
    public void startArray(int elements) {
        start(false, elements);
    }

    private void start(boolean map, int expected) {
        if (depth == limits.nesting) {
            throw PsonException.encoding(Kind.LIMIT, "maps and arrays are nested more than " + limits.nesting + " levels, or contain themselves");
        }
        value();
        if (depth++ > 0) {
            push();
        }
        reserve(LONGEST);
        start = length;
        content = length += headerLength(expected);
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
        KeyCache.Key known = keys.find(key);
        if (known != null) {
            reserve(KeyCache.ROOM);
            length = known.write(bytes, length);
            return;
        }
        text(key);
        int n = key.length();
        if (n <= KeyCache.LONGEST && isAscii(key, n)) {
            keys.addWritten(key, bytes, length - n, n);
        }
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
            throw PsonException.encoding(Kind.TYPE, "a key is not allowed here");
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
        int size = headerLength(n);
        int after = length;
        if (start + size != content) {
            // The number is not the expected one: the items make room for it.
            reserve(LONGEST);
            System.arraycopy(bytes, content, bytes, start + size, length - content);
            after += start + size - content;
        }
        length = start;
        header(type, n);
        length = after;
        if (depth > 1) {
            pop();
        } else {
            count = 1;
            isMap = false;
        }
        depth--;
    }

    private void push() {
        int at = 3 * (depth - 2);
        if (at == around.length) {
            around = Arrays.copyOf(around, 2 * at + 12);
        }
        around[at] = count;
        around[at + 1] = start;
        around[at + 2] = isMap ? ~content : content;
    }

    private void pop() {
        int at = 3 * (depth - 2);
        count = around[at];
        start = around[at + 1];
        isMap = around[at + 2] < 0;
        content = isMap ? ~around[at + 2] : around[at + 2];
    }

    /** Counts a value of the map or array around it. */
    private void value() {
        if (isMap ? (count & 1) == 0 : depth == 0 && count > 0) {
            throw PsonException.encoding(Kind.TYPE, isMap ? "expected a key" : "a message has one value");
        }
        count++;
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
     * Returns the memory of the writer, for another writer after this one: the memory that it began with, unless a message needed more.
     *
     * @return the memory
     */
    public byte[] memory() {
        return bytes;
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
     * @param out the buffer, whose position moves past the message
     */
    public void writeTo(ByteBuffer out) {
        finish();
        if (out.remaining() < length) {
            throw PsonException.encoding(Kind.TRUNCATED, "the message has " + length + " bytes, and the buffer room for " + out.remaining());
        }
        out.put(bytes, 0, length);
    }
}
