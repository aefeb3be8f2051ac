package dev.dunnage.packed;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Reads the parts of a message in their order. {@code key} is that of {@link Part}. */
interface Source {
    /** The kind of the body. A few parts differ. */
    Body body();

    /** Reads a number from 0 to {@code count} - 1. */
    long index(long key, long count);

    /** Reads a sized number, an unsigned 64-bit one. */
    long sized(long key);

    /** Reads {@code bits} bits. */
    long raw(long key, int bits);

    /** Returns the byte that holds the next bit, for errors. */
    int offset();

    /** Enters the element of an array with this index; {@link #leave} leaves it. Only references need to know. */
    default void enter(int index) {}

    /** Leaves the element that was entered last. */
    default void leave() {}

    /** Reads text of {@code min} to {@code max} code points. Only a modelled body has texts without a maximum, {@link Bounds#OPEN}. */
    default String text(long key, long min, long max) {
        long length = min + index(key, max - min + 1);
        if (length == 0) {
            return "";
        }
        int form = offset();
        boolean ascii = raw(key, 1) == 0;
        StringBuilder text = new StringBuilder();
        boolean other = false;
        for (long i = 0; i < length; i++) {
            int c = ascii ? (int) raw(key, 7) : character(key);
            other |= c >= 0x80;
            text.appendCodePoint(c);
        }
        if (!ascii && !other) {
            throw new PackedException(Kind.MALFORMED, form, "ASCII text in more than 7 bits a character");
        }
        return text.toString();
    }

    private int character(long key) {
        int offset = offset();
        int first = (int) raw(key, 8);
        int size = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 && first < 0xe0 ? 2 : 1;
        byte[] bytes = new byte[size];
        bytes[0] = (byte) first;
        for (int i = 1; i < size; i++) {
            bytes[i] = (byte) raw(key, 8);
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString().codePointAt(0);
        } catch (CharacterCodingException e) {
            throw new PackedException(Kind.MALFORMED, offset, "text that is not UTF-8");
        }
    }

    /** Returns the error of a message without the bits that its layout needs. */
    static PackedException truncated(int length) {
        return new PackedException(Kind.TRUNCATED, length, "the message ends before its layout does");
    }
}
