package dev.dunnage.packed;

import java.math.BigInteger;

/** Text without an exact pattern. */
final class TextNode extends Node {
    private static final int CHARACTER_BITS = 32;

    private final Bounds bounds;
    /** Whether most texts are a {@link PlainTime}, which a modelled body writes as a number. */
    private final boolean isTime;

    TextNode(int id, Bounds bounds, boolean isTime) {
        super(id);
        this.bounds = bounds;
        this.isTime = isTime;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        if (!(value instanceof String)) {
            throw Values.wrongType("a string", value);
        }
        String text = (String) value;
        if (!carriesThis(text, to.limits)) {
            int length = text.codePointCount(0, text.length());
            throw range(Describe.brief(text) + " has " + length + " characters; " + bounds.flaw(length));
        }
        to.limits.takeText(text, 0);
        BigInteger seconds = isTime ? PlainTime.seconds(text) : null;
        if (isTime) {
            to.sink.index(Part.key(id, Part.PRESENCE), seconds == null ? 0 : 1, 2);
        }
        if (seconds == null) {
            to.sink.text(Part.key(id, Part.VALUE), text, bounds.min, bounds.max);
        } else {
            PlainTime.write(id, seconds, to.sink);
        }
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        String text;
        if (isTime && from.source.index(Part.key(id, Part.PRESENCE), 2) == 1) {
            text = PlainTime.read(id, from.source);
        } else {
            text = from.source.text(Part.key(id, Part.VALUE), bounds.min, bounds.max);
            if (isTime && PlainTime.seconds(text) != null) {
                throw new PackedException(Kind.MALFORMED, offset, "a plain time as text");
            }
        }
        from.limits.takeText(text, offset);
        return text;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        return value instanceof String && bounds.hold(((String) value).codePointCount(0, ((String) value).length()));
    }

    @Override
    long maxBits() {
        return Bits.and(bounds.maxBits(), Bits.and(bounds.max > 0 ? 1 : 0, Bits.times(CHARACTER_BITS, bounds.max)));
    }

    @Override
    void addLeaves(Leaves leaves) {
        leaves.opaque(Part.key(id, Part.VALUE));
    }
}
