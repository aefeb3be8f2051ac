package dev.dunnage.pson;

/** An item of a message, as a {@link PsonReader} finds it. */
public enum Token {
    /** Null. */
    NULL,
    /** True or false. */
    BOOLEAN,
    /** An integer. */
    INTEGER,
    /** Any other number. */
    FLOAT,
    /** Text. */
    TEXT,
    /** A byte string. */
    BYTES,
    /** An array begins. */
    ARRAY,
    /** An array ends. */
    END_ARRAY,
    /** A map begins. */
    MAP,
    /** The key of the next value. */
    KEY,
    /** A map ends. */
    END_MAP
}
