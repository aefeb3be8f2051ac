package dev.dunnage.packed;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Limits the work and the memory that one message can cause. Encoder and decoder count in the same way. */
final class Limits {
    /** The largest message in bytes. */
    static final int MAX_BYTES = 1 << 20;
    /** The most values of a message. */
    static final int MAX_VALUES = 1 << 20;
    private static final int MAX_NESTING = 32;
    /** The bytes of text that count as one more value, whether it takes bits or not. */
    private static final int TEXT = 32;
    /** The most steps to find the nodes that carry the values of a message's unions. */
    private static final int MAX_STEPS = 1 << 24;
    /** The names or values whose comparison counts as one step. */
    private static final int COMPARED = 8;

    private int values = MAX_VALUES;
    private int steps = MAX_STEPS;

    /** Takes values that begin at {@code offset} from the remaining budget. */
    void take(int count, int offset) {
        values -= count;
        if (values < 0) {
            throw new PackedException(Kind.LIMIT, offset, "more than " + MAX_VALUES + " values");
        }
    }

    /** Takes text, a value or a key. */
    void takeText(String text, int offset) {
        // A unit of UTF-16 takes at most three bytes.
        if (3 * text.length() >= TEXT) {
            take(text.getBytes(StandardCharsets.UTF_8).length / TEXT, offset);
        }
    }

    /** Takes the content of a value that takes no bits of its own. The value itself is already counted. */
    void takeKnown(Object value, int offset) {
        if (value instanceof String) {
            takeText((String) value, offset);
        } else if (value instanceof List) {
            for (Object item : (List<?>) value) {
                take(1, offset);
                takeKnown(item, offset);
            }
        } else if (value instanceof Map) {
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                take(1, offset);
                takeText((String) member.getKey(), offset);
                takeKnown(member.getValue(), offset);
            }
        }
    }

    /** Counts the steps of looking at a node. */
    void step() {
        charge(COMPARED);
    }

    /** Counts the steps of comparing {@code compared} names or values. */
    void charge(int compared) {
        steps -= compared / COMPARED;
        if (steps < 0) {
            throw new PackedException(Kind.LIMIT, 0, "finding the types of the values takes more than " + MAX_STEPS + " steps");
        }
    }

    /** Returns the nesting inside another array or object, which begins at {@code offset}. */
    static int inside(int nesting, int offset) {
        if (nesting == MAX_NESTING) {
            throw new PackedException(Kind.LIMIT, offset, "arrays and objects are nested more than " + MAX_NESTING + " deep");
        }
        return nesting + 1;
    }
}
