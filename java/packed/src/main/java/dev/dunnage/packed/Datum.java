package dev.dunnage.packed;

import java.util.Objects;

/** A part of a message as a coded body has it: an index, or an opaque part, which has no statistics of its own. */
final class Datum {
    enum Form { INDEX, SIZED, RAW, TEXT }

    final Form form;
    /** The index, the sized number or the bits. */
    final long value;
    /** The number of values of an index, the number of bits of raw ones, otherwise 0. */
    final long size;
    /** The text, or null. */
    final String text;

    private Datum(Form form, long value, long size, String text) {
        this.form = form;
        this.value = value;
        this.size = size;
        this.text = text;
    }

    static Datum index(long value, long count) {
        return new Datum(Form.INDEX, value, count, null);
    }

    static Datum sized(long value) {
        return new Datum(Form.SIZED, value, 0, null);
    }

    static Datum raw(long value, int bits) {
        return new Datum(Form.RAW, value, bits, null);
    }

    static Datum text(String text) {
        return new Datum(Form.TEXT, 0, 0, text);
    }

    /** Whether the other one has the same form, so that it may be the same part. */
    boolean isLike(Form form, long size) {
        return this.form == form && this.size == size;
    }

    boolean isSame(Datum other) {
        return isLike(other.form, other.size) && value == other.value && Objects.equals(text, other.text);
    }
}
