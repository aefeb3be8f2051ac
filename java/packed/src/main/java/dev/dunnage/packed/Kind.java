package dev.dunnage.packed;

import java.util.Locale;

/** The kinds of errors, those of {@code spec/packed.md}, "Errors and limits". */
public enum Kind {
    /** The message ends before its layout does. */
    TRUNCATED,
    /** A delta, whose reference is not there. */
    REFERENCE,
    /** Bytes that no writer produces. */
    MALFORMED,
    /** A value, a number or a slot that the layout does not have. */
    RANGE,
    /** A value of another type than the layout's, or a text that the receiver does not know. */
    TYPE,
    /** Too deep, too large or too much work. */
    LIMIT;

    /** Returns the name as the specification writes it, in lower case. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
