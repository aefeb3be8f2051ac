package dev.dunnage.pson;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The keys of earlier messages: a device sends the same ones again and again. Threads may share it, because an entry does not change and a lost one is only
 * made again.
 */
final class KeyCache {
    private static final int SIZE = 1 << 9;
    /** The longest key that is kept. */
    private static final int LONGEST = 40;

    private final Entry[] entries = new Entry[SIZE];

    private static final class Entry {
        final byte[] utf8;
        final String text;

        Entry(byte[] utf8) {
            this.utf8 = utf8;
            text = new String(utf8, StandardCharsets.ISO_8859_1);
        }
    }

    /** Returns the ASCII text of these bytes. */
    String get(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length > LONGEST || length == 0) {
            return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
        }
        int hash = length + 31 * bytes[from] + 0x1003f * bytes[from + length / 2] + 0x61 * bytes[to - 1];
        int at = (hash ^ hash >>> 9) & SIZE - 1;
        Entry entry = entries[at];
        if (entry == null || !Arrays.equals(entry.utf8, 0, entry.utf8.length, bytes, from, to)) {
            entries[at] = entry = new Entry(Arrays.copyOfRange(bytes, from, to));
        }
        return entry.text;
    }
}
