package dev.dunnage.pson;

import java.util.Locale;

/** The kind of an error, as {@code spec/pson.md} defines it. The kinds are part of the contract, the texts of messages are not. */
public enum Kind {
    /** The bytes end before the message does, or a buffer is too small. */
    TRUNCATED,
    /** The bytes are not PSON. */
    MALFORMED,
    /** The message has another type than the one that is read, or PSON cannot represent the value. */
    TYPE,
    /** A number that the type to read cannot hold exactly, or that PSON cannot represent. */
    RANGE,
    /** The message is nested too deeply or too large. */
    LIMIT;

    /** Returns the name in lower case, as in the specification. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
