package dev.dunnage.packed;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** All texts of the prior and of a modelled body, each followed by {@link #END}; finds where the last bytes occurred before. */
final class History {
    /** The byte that follows each text. No character begins with it. */
    static final int END = 0x80;
    /** The most bytes that are compared backwards from a match. */
    private static final int LONGEST = 32;

    /** Larger arrays are not kept for the next message. */
    private static final int MAX_KEPT = 1 << 16;

    /** Null for the history of the prior itself. Its bytes are at the beginning of this one's. */
    private History prior;
    private byte[] bytes = new byte[1 << 14];
    private int size;
    /** The index behind the last occurrence of each four bytes, without those of the prior. */
    private final IntMap behind = new IntMap();
    /** The start of the last text of each place, plus 1. */
    private final IntMap texts = new IntMap();

    /** Makes the history that of the prior. */
    void copy(History of) {
        if (prior == null || bytes.length > MAX_KEPT) {
            bytes = of.bytes.clone();
        }
        prior = of;
        size = of.size;
        behind.clear();
        texts.copy(of.texts);
    }

    int size() {
        return size;
    }

    /** Returns a byte as 0 to 255. */
    int at(int index) {
        return bytes[index] & 0xff;
    }

    /** Returns the last byte but {@code n}. */
    int last(int n) {
        return size > n ? at(size - 1 - n) : END;
    }

    /** Returns the start of the last text of a place, or -1. */
    int textOf(int place) {
        return texts.get(place) - 1;
    }

    void remember(int place, int start) {
        texts.put(place, start + 1);
    }

    /** Appends a byte. Returns the index behind the occurrence before of the last four bytes, or 0. */
    int push(int value) {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * size);
        }
        bytes[size++] = (byte) value;
        if (size < 4) {
            return 0;
        }
        int four = at(size - 4) << 24 | at(size - 3) << 16 | at(size - 2) << 8 | value;
        int found = behind.put(four, size);
        return found == 0 && prior != null ? prior.behind.get(four) : found;
    }

    /** Returns the number of bytes before {@code at} that equal those at the end. */
    int matching(int at) {
        int length = 0;
        while (length < Math.min(LONGEST, at) && bytes[at - 1 - length] == bytes[size - 1 - length]) {
            length++;
        }
        return length;
    }

    /** Returns the text from {@code start} to the end, or null if it is not UTF-8. */
    String text(int start) {
        boolean ascii = true;
        for (int i = start; i < size; i++) {
            ascii &= bytes[i] >= 0;
        }
        if (ascii) {
            return new String(bytes, start, size - start, StandardCharsets.ISO_8859_1);
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, start, size - start)).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
