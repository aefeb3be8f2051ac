package dev.dunnage.pson;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The bytes of a message and where a reader is in them: headers, varints, and the bounds of what follows them. */
abstract class Input {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The bytes, in an array or else in a buffer. Indices are into either. */
    final byte[] bytes;
    final ByteBuffer buffer;
    final int start;
    final int end;
    final boolean strict;
    /** The next byte. */
    int offset;
    /** The current item's header, and its content. */
    int item;
    int from;
    int to;

    Input(byte[] bytes, ByteBuffer buffer, int start, int end, boolean strict) {
        this.bytes = bytes;
        this.buffer = buffer;
        this.start = start;
        this.end = end;
        this.strict = strict;
        offset = start;
    }

    final int header() {
        if (offset >= end) {
            throw truncated();
        }
        return (bytes != null ? bytes[offset++] : buffer.get(offset++)) & 0xff;
    }

    /** Reads a varint, of 64 bits without a sign. */
    final long varint() {
        long n = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int b = header();
            if (shift == 63 && b > 1) {
                break;
            }
            n |= (long) (b & 0x7f) << shift;
            if (b < 0x80) {
                if (strict && (shift == 0 ? b < Wire.VARINT : b == 0)) {
                    throw malformed("a varint has redundant bytes");
                }
                return n;
            }
        }
        throw malformed("a varint exceeds 2^64 - 1");
    }

    /** Goes past the N bytes of an item. */
    final void content(int n) {
        long length = n < Wire.VARINT ? n : varint();
        if (length < 0 || length > end - offset) {
            throw truncated();
        }
        from = offset;
        to = offset += (int) length;
    }

    final PsonException malformed(String reason) {
        return PsonException.decoding(Kind.MALFORMED, item - start, reason);
    }

    final PsonException truncated() {
        return PsonException.decoding(Kind.TRUNCATED, end - start, end == start ? "the message is empty" : "the message ends early");
    }

    /** Reads four bytes, which are there. */
    final int int32() {
        int bits = bytes != null ? (int) INTS.get(bytes, offset) : Integer.reverseBytes(bigEndian().getInt(offset));
        offset += 4;
        return bits;
    }

    /** Reads eight bytes, which are there. */
    final long int64() {
        long bits = bytes != null ? (long) LONGS.get(bytes, offset) : Long.reverseBytes(bigEndian().getLong(offset));
        offset += 8;
        return bits;
    }

    private ByteBuffer bigEndian() {
        return buffer.order() == ByteOrder.BIG_ENDIAN ? buffer : buffer.duplicate();
    }
}
