package dev.dunnage.packed;

/** Text without an exact pattern, of {@code min} to {@code max} code points. */
final class TextNode extends Node {
    private static final int CHARACTER_BITS = 32;

    private final long min;
    private final long max;

    TextNode(int id, long min, long max) {
        super(id);
        this.min = min;
        this.max = max;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        if (!(value instanceof String)) {
            throw Values.wrongType("a string", value);
        }
        if (!carriesThis(value, to.limits)) {
            long length = ((String) value).codePointCount(0, ((String) value).length());
            throw range(Describe.brief(value) + " has " + length + " characters; " + Describe.bound(length, min, max));
        }
        to.limits.takeText((String) value, 0);
        to.sink.text(Part.key(id, Part.VALUE), (String) value, min, max);
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        String text = from.source.text(Part.key(id, Part.VALUE), min, max);
        from.limits.takeText(text, offset);
        return text;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        if (!(value instanceof String)) {
            return false;
        }
        String text = (String) value;
        int length = text.codePointCount(0, text.length());
        return min <= length && length <= max;
    }

    @Override
    long maxBits() {
        return Bits.and(Part.indexBits(max - min + 1), Bits.and(max > 0 ? 1 : 0, Bits.times(CHARACTER_BITS, max)));
    }

    @Override
    void addLeaves(Leaves leaves) {
        leaves.opaque();
    }
}
