package dev.dunnage.pson;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads messages that follow each other in a stream. At most one message is kept. */
public final class PsonStream {
    private static final int ROOM = 1 << 12;

    private final Pson pson;
    private final InputStream in;
    private final Limits limits;
    private byte[] bytes = new byte[ROOM];
    private int length;
    /** The items that are still to come of the message, and of each map and array around the next one. */
    private long[] left = new long[9];
    private int depth;

    PsonStream(Pson pson, InputStream in, Limits limits) {
        this.pson = pson;
        this.in = in;
        this.limits = limits;
    }

    /**
     * Reads the next message.
     *
     * @return its bytes; null at the end of the stream. A message that ends early, or that is known to be faulty, is returned up to there, and {@link
     *     Pson#decode(byte[])} reports the fault
     * @throws IOException if the stream throws it
     */
    public byte[] next() throws IOException {
        length = 0;
        depth = 0;
        left[0] = 1;
        while (depth >= 0 && length <= limits.size) {
            if (left[depth] == 0) {
                depth--;
            } else if (!item()) {
                break;
            }
        }
        return length == 0 ? null : Arrays.copyOf(bytes, length);
    }

    /**
     * Reads and decodes the next message.
     *
     * @return the value
     * @throws IOException if the stream throws it
     * @throws PsonException if the bytes are not a message, or the stream has ended
     */
    public Object decode() throws IOException {
        byte[] message = next();
        return pson.decode(message == null ? new byte[0] : message);
    }

    /** Reads the next item, but not the content of a map or array. Returns whether the message continues. */
    private boolean item() throws IOException {
        int header = in.read();
        if (header < 0) {
            return false;
        }
        add(header);
        left[depth]--;
        int type = header & 0xe0;
        long n = header & 31;
        if (type == Wire.BINARY32) {
            return n < 2 && content(4 + 4 * n);
        }
        if (type == Wire.FALSE) {
            return n <= 2;
        }
        if (n == Wire.VARINT && (n = varint()) == BAD) {
            return false;
        }
        switch (type) {
            case Wire.TEXT:
            case Wire.BYTES:
                return content(n);
            case Wire.MAP:
            case Wire.ARRAY:
                return open(type == Wire.MAP ? 2 * n : n);
            default:
                return true;
        }
    }

    private boolean open(long items) {
        if (depth == limits.nesting) {
            return false;
        }
        if (++depth == left.length) {
            left = Arrays.copyOf(left, 2 * depth);
        }
        left[depth] = items;
        return true;
    }

    /** Not a varint: the stream ends, or the number has more than 63 bits, which no content has. */
    private static final long BAD = -1;
    /** Replaces numbers of 64 bits: more than the size of any message. */
    private static final long HUGE = 1L << 61;

    private long varint() throws IOException {
        long n = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            int b = in.read();
            if (b < 0) {
                return BAD;
            }
            add(b);
            n |= shift < 63 ? (long) (b & 0x7f) << shift : 0;
            if (n > HUGE) {
                n = HUGE;
            }
            if (b < 0x80) {
                return shift < 63 || b == 0 ? n : HUGE;
            }
        }
        return BAD;
    }

    /** Reads the N bytes of an item, as far as they are there. A message that is too large ends one byte beyond its limit. */
    private boolean content(long n) throws IOException {
        long end = Math.min(length + n, (long) limits.size + 1);
        while (length < end) {
            if (length == bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * length);
            }
            int got = in.read(bytes, length, (int) Math.min(end - length, bytes.length - length));
            if (got < 0) {
                return false;
            }
            length += got;
        }
        return length <= limits.size;
    }

    private void add(int b) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * length);
        }
        bytes[length++] = (byte) b;
    }
}
