package dev.dunnage.pson;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The memory of a writer, which grows with the message: headers and texts. */
abstract class Output {
    /** Up to this length, a loop is faster than native code, and the header is one byte. */
    private static final int SHORT = 24;
    /** The most bytes of an item without content: a header and a varint of 10 bytes. */
    static final int LONGEST = 11;

    final Limits limits;
    byte[] bytes;
    int length;

    Output(Limits limits, byte[] memory) {
        this.limits = limits;
        bytes = memory;
    }

    final void header(int type, long n) {
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

    /** The bytes of a header with a number that is no longer than an int. */
    static int headerLength(int n) {
        int size = 1;
        if (n >= Wire.VARINT) {
            do {
                size++;
                n >>>= 7;
            } while (n > 0);
        }
        return size;
    }

    @SuppressWarnings("deprecation")
    final void text(String text) {
        int n = text.length();
        reserve(LONGEST + n);
        int at = length;
        if (n <= SHORT && shortText(text, n)) {
            return;
        }
        int content = at + headerLength(n);
        // Copies the low byte of each character, which is all of it in ASCII. Whether it is ASCII shows afterwards.
        text.getBytes(0, n, bytes, content);
        if (Utf8.isAscii(bytes, content, content + n) && isAscii(text, n)) {
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
    static boolean isAscii(String text, int n) {
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

    final void reserve(int more) {
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

    final PsonException oversized() {
        return PsonException.ofMessage(Kind.LIMIT, "the message has more than " + limits.size + " bytes");
    }
}
