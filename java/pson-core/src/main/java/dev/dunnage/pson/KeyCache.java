package dev.dunnage.pson;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The keys of earlier messages: a device sends the same ones again and again, in the same order. Threads may share it, because a key does not change but for the
 * guess what follows it, and a lost key is only made again.
 */
final class KeyCache {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int BITS = 9;
    /** The longest key that is kept. Its length fits into the header. */
    static final int LONGEST = Wire.VARINT - 1;
    /** The bytes that writing a key may touch. */
    static final int ROOM = 1 + LONGEST;
    /** Keys are compared by two words of eight bytes, and beyond them byte by byte. */
    private static final int WORDS = 16;
    /** Spreads the bits of a number over its upper bits: 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9e3779b97f4a7c15L;

    /** The predecessor of the first key of a message. */
    final Key none = new Key("", new byte[0]);
    /** Keys that were read. A key is in the slot that its bytes select, or in the neighbouring one. */
    private final Key[] read = new Key[1 << BITS];
    /** Keys that were written, in the slots that their hashes as strings select. */
    private final Key[] written = new Key[1 << BITS];
    /** The hashes of keys that came once. Such a key is not worth the memory. Other bits select the place, so that two keys rarely displace each other in both tables. */
    private final int[] readOnce = new int[1 << BITS];
    private final int[] writtenOnce = new int[1 << BITS];

    /** A key whose UTF-8 is known to be valid. */
    static final class Key {
        final String text;
        private final byte[] utf8;
        private final long first;
        private final long second;
        /** The place of the key that came after this one at first; 0 if none has come. It does not refer to the key, which may have to go. */
        private int next;

        Key(String text, byte[] utf8) {
            this.text = text;
            this.utf8 = utf8;
            first = word(utf8, 0, utf8.length);
            second = word(utf8, 8, utf8.length - 8);
        }

        /** Writes the header and the bytes. There is room for {@link #ROOM} bytes. */
        int write(byte[] into, int at) {
            into[at] = (byte) (Wire.TEXT | utf8.length);
            LONGS.set(into, at + 1, first);
            LONGS.set(into, at + 9, second);
            if (utf8.length > WORDS) {
                System.arraycopy(utf8, WORDS, into, at + 1 + WORDS, utf8.length - WORDS);
            }
            return at + 1 + utf8.length;
        }

        private boolean is(long itsFirst, long itsSecond, byte[] bytes, int from, int length) {
            return first == itsFirst && second == itsSecond && utf8.length == length
                && (length <= WORDS || Arrays.equals(utf8, WORDS, length, bytes, from + WORDS, from + length));
        }
    }

    /** Returns the key with these bytes, or null if it is not here. */
    Key find(Key previous, byte[] bytes, int from, int length) {
        if (length > LONGEST) {
            return null;
        }
        long first = word(bytes, from, length);
        long second = word(bytes, from + 8, length - 8);
        Key key = read[previous.next];
        if (key != null && key.is(first, second, bytes, from, length)) {
            return key;
        }
        int at = place(hash(first, second, length));
        key = read[at];
        if (key == null || !key.is(first, second, bytes, from, length)) {
            at ^= 1;
            key = read[at];
            if (key == null || !key.is(first, second, bytes, from, length)) {
                return null;
            }
        }
        if (previous.next == 0) {
            previous.next = at;
        }
        return key;
    }

    /** Keeps a key that was not here, if it came before. Of the two that have its place, the older one goes. */
    void addRead(String text, byte[] bytes, int from, int length) {
        if (length > LONGEST) {
            return;
        }
        long hash = hash(word(bytes, from, length), word(bytes, from + 8, length - 8), length);
        int seen = (int) hash & readOnce.length - 1;
        if (readOnce[seen] != (int) (hash >>> 32)) {
            readOnce[seen] = (int) (hash >>> 32);
            return;
        }
        int at = place(hash);
        read[at ^ 1] = read[at];
        read[at] = new Key(text, Arrays.copyOfRange(bytes, from, from + length));
    }

    /** Returns the key with this text, or null if it was not written before. */
    Key find(String text) {
        Key key = written[place(text.hashCode() * SPREAD)];
        return key != null && key.text.equals(text) ? key : null;
    }

    /** Keeps a key that was written, if it came before. */
    void addWritten(String text, byte[] bytes, int from, int length) {
        int hash = text.hashCode();
        int seen = hash & writtenOnce.length - 1;
        if (writtenOnce[seen] != hash) {
            writtenOnce[seen] = hash;
        } else {
            written[place(hash * SPREAD)] = new Key(text, Arrays.copyOfRange(bytes, from, from + length));
        }
    }

    private static long hash(long first, long second, int length) {
        long hash = (first + 31 * second + length) * SPREAD;
        return hash ^ hash >>> 32;
    }

    private static int place(long hash) {
        return (int) (hash >>> 64 - BITS);
    }

    /** The next eight bytes of a key, or as many as it has. */
    private static long word(byte[] bytes, int from, int length) {
        if (length <= 0) {
            return 0;
        }
        int unused = 8 * Math.max(8 - length, 0);
        if (from <= bytes.length - 8) {
            return (long) LONGS.get(bytes, from) << unused >>> unused;
        }
        if (from + length >= 8) {
            // The key is at the end of the array.
            return (long) LONGS.get(bytes, from + length - 8) >>> unused;
        }
        long all = 0;
        for (int i = length; --i >= 0;) {
            all = all << 8 | bytes[from + i] & 0xff;
        }
        return all;
    }
}
