package dev.dunnage.packed;

import java.util.List;

/** A number, or text of several numbers with a separator between them. */
final class NumbersNode extends Node {
    private final List<NumberRange> parts;
    /** Null for a single number. */
    private final String separator;

    NumbersNode(int id, List<NumberRange> parts, String separator) {
        super(id);
        this.parts = parts;
        this.separator = separator;
    }

    /** Has a writer round. Returns false if the node is not a number with decimals. */
    boolean round() {
        return separator == null && parts.get(0).round();
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        if (separator == null) {
            NumberRange number = parts.get(0);
            number.write(id, 0, number.toWrite(value), to.sink);
            if (value instanceof String) {
                to.limits.takeText((String) value, 0);
            }
            return;
        }
        if (!(value instanceof String)) {
            throw Values.wrongType("a string that holds numbers", value);
        }
        Pieces pieces = new Pieces((String) value);
        for (int nth = 0; nth < parts.size(); nth++) {
            String piece = pieces.next();
            if (piece == null) {
                throw miscounted((String) value);
            }
            parts.get(nth).write(id, nth, parts.get(nth).exact(piece), to.sink);
        }
        if (pieces.next() != null) {
            throw miscounted((String) value);
        }
        to.limits.takeText((String) value, 0);
    }

    private PackedException miscounted(String text) {
        int count = 0;
        for (Pieces pieces = new Pieces(text); pieces.next() != null;) {
            count++;
        }
        return range(Describe.quoted(text) + " holds " + count + " numbers, not " + parts.size());
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        if (separator == null) {
            Object value = parts.get(0).value(parts.get(0).read(id, 0, from.source), offset);
            if (value instanceof String) {
                from.limits.takeText((String) value, offset);
            }
            return value;
        }
        StringBuilder text = new StringBuilder();
        for (int nth = 0; nth < parts.size(); nth++) {
            text.append(nth > 0 ? separator : "");
            text.append(parts.get(nth).value(parts.get(nth).read(id, nth, from.source), offset));
        }
        String read = text.toString();
        from.limits.takeText(read, offset);
        return read;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        if (separator == null) {
            return parts.get(0).carries(value);
        }
        if (!(value instanceof String)) {
            return false;
        }
        Pieces pieces = new Pieces((String) value);
        for (NumberRange part : parts) {
            String piece = pieces.next();
            if (piece == null || !part.carries(piece)) {
                return false;
            }
        }
        return pieces.next() == null;
    }

    @Override
    long maxBits() {
        long bits = 0;
        for (NumberRange part : parts) {
            bits = Bits.and(bits, part.maxBits());
        }
        return bits;
    }

    @Override
    void addLeaves(Leaves leaves) {
        for (int nth = 0; nth < parts.size(); nth++) {
            parts.get(nth).addLeaves(id, nth, leaves);
        }
    }

    /** The pieces of a text between separators. */
    private final class Pieces {
        private final String text;
        private int at;

        Pieces(String text) {
            this.text = text;
        }

        /** Returns the next piece, or null after the last one. */
        String next() {
            if (at < 0) {
                return null;
            }
            int end = text.indexOf(separator, at);
            String piece = text.substring(at, end < 0 ? text.length() : end);
            at = end < 0 ? -1 : end + separator.length();
            return piece;
        }
    }
}
