package dev.dunnage.packed;

/** Writes the parts of a message in their order. {@code key} is that of {@link Part}. */
interface Sink {
    /** The kind of the body. A few parts differ. */
    Body body();

    /** Writes {@code value}, which is at most {@code count} - 1. */
    void index(long key, long value, long count);

    /** Writes a sized number, an unsigned 64-bit one. */
    void sized(long key, long value);

    /** Writes the lowest {@code bits} bits of {@code value}, whose higher bits are 0. */
    void raw(long key, long value, int bits);

    /** Enters the element of an array with this index; {@link #leave} leaves it. Only references need to know. */
    default void enter(int index) {}

    /** Leaves the element that was entered last. */
    default void leave() {}

    /** Writes text of {@code min} to {@code max} code points. Only a modelled body has texts without a maximum, {@link Bounds#OPEN}. */
    default void text(long key, String text, long min, long max) {
        int length = text.codePointCount(0, text.length());
        index(key, length - min, max - min + 1);
        if (length == 0) {
            return;
        }
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        boolean ascii = bytes.length == length;
        raw(key, ascii ? 0 : 1, 1);
        for (byte b : bytes) {
            raw(key, b & 0xff, ascii ? 7 : 8);
        }
    }
}
