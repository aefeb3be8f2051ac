package dev.dunnage.packed;

import java.util.Arrays;

/** Writes plain bits. Each byte is filled from its highest bit down. */
final class BitWriter implements Sink {
    /** The size of a sized number of 64 bits. */
    static final int FULL = 63;
    static final int SIZE_BITS = 6;

    private byte[] bytes = new byte[64];
    private int bit;

    /** Creates a writer of a message that begins with these bytes. */
    BitWriter(byte[] start) {
        System.arraycopy(start, 0, bytes, 0, start.length);
        bit = 8 * start.length;
    }

    /** Returns a message with a plain body that begins with these bytes. */
    static byte[] message(Node root, Object value, byte... start) {
        BitWriter plain = new BitWriter(start);
        new Node.Writing(plain).value(root, value, 0);
        return plain.finish();
    }

    /** Returns the message. The bits that fill its last byte are 0. */
    byte[] finish() {
        return Arrays.copyOf(bytes, (bit + 7) / 8);
    }

    private void put(long value, int bits) {
        if ((bit + bits + 7) / 8 > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        int left = bits;
        while (left > 0) {
            int room = 8 - bit % 8;
            int now = Math.min(room, left);
            long part = value >>> (left - now) & ((1 << now) - 1);
            bytes[bit / 8] |= (byte) (part << (room - now));
            bit += now;
            left -= now;
        }
    }

    @Override
    public Body body() {
        return Body.PLAIN;
    }

    @Override
    public void index(long key, long value, long count) {
        put(value, Part.indexBits(count));
    }

    @Override
    public void sized(long key, long value) {
        int significant = Math.min(Long.SIZE - Long.numberOfLeadingZeros(value), FULL);
        put(significant, SIZE_BITS);
        put(value, significant == FULL ? Long.SIZE : Math.max(significant - 1, 0));
    }

    @Override
    public void raw(long key, long value, int bits) {
        put(value, bits);
    }
}
