package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;

/** A binary float, in the form with the fewest bits. {@code spec/packed.md}, "Floats". */
final class FloatNode extends Node {
    private static final int MAX_PLACES = 12;
    private static final double MAX_MANTISSA = 1L << 48;
    private static final int SHORT_PLACES = 8;
    private static final int SHORT_SIZES = 32;
    private static final int MAX_BITS = 67;
    /** The forms of a coded body: a decimal, binary32 and binary64. */
    private static final int FORMS = 3;

    private enum Form { SHORT, SINGLE, LONG, DOUBLE }

    /** The shortest decimal text of a float: mantissa * 10^-places. A plain body has no others. */
    private static final class Decimal {
        final boolean negative;
        final int places;
        final long mantissa;

        Decimal(boolean negative, int places, long mantissa) {
            this.negative = negative;
            this.places = places;
            this.mantissa = mantissa;
        }

        /** Returns null if the decimal has too many places or digits. */
        static Decimal of(double f) {
            for (int places = 0; places <= MAX_PLACES; places++) {
                double mantissa = Math.rint(Math.abs(f) * Floats.POWERS[places]);
                if (mantissa < MAX_MANTISSA && mantissa / Floats.POWERS[places] == Math.abs(f)) {
                    return new Decimal(Double.doubleToRawLongBits(f) < 0, places, (long) mantissa);
                }
            }
            return null;
        }

        /** Returns the float, whether or not this is its shortest text. */
        double toFloat() {
            double f = mantissa / Floats.POWERS[places];
            return negative ? -f : f;
        }

        int size() {
            return Long.SIZE - Long.numberOfLeadingZeros(mantissa);
        }

        boolean isShort() {
            return places < SHORT_PLACES && size() < SHORT_SIZES;
        }

        boolean isShortestText() {
            Decimal shortest = mantissa >= 0 && mantissa < MAX_MANTISSA ? of(toFloat()) : null;
            return shortest != null && shortest.places == places && shortest.mantissa == mantissa;
        }
    }

    FloatNode(int id) {
        super(id);
    }

    private static boolean isSingle(double f) {
        return (float) f == f;
    }

    /** Returns the only form in which a plain body has {@code f}, whose decimal is {@code d}. */
    private static Form form(double f, Decimal d) {
        int more = d == null ? 0 : Math.max(d.size() - 1, 0);
        int shortBits = d != null && d.isShort() ? 10 + more : MAX_BITS + 1;
        int singleBits = isSingle(f) ? 34 : MAX_BITS + 1;
        int longBits = d != null && !d.isShort() ? 14 + more : MAX_BITS + 1;
        if (shortBits <= Math.min(singleBits, longBits) && shortBits <= MAX_BITS) {
            return Form.SHORT;
        }
        if (singleBits <= longBits && singleBits <= MAX_BITS) {
            return Form.SINGLE;
        }
        return longBits <= MAX_BITS ? Form.LONG : Form.DOUBLE;
    }

    /** Returns the float that holds a number exactly, or NaN. */
    private static double exact(Object value) {
        if (value instanceof Double) {
            return Double.isFinite((Double) value) ? (Double) value : Double.NaN;
        }
        BigInteger n = Values.whole(value);
        double f = n == null ? Double.NaN : n.doubleValue();
        return n != null && new BigDecimal(f).toBigInteger().equals(n) ? f : Double.NaN;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        if (!(value instanceof Number)) {
            throw Values.wrongType("a number", value);
        }
        double f = exact(value);
        if (Double.isNaN(f)) {
            boolean isFinite = !(value instanceof Double) || Double.isFinite((Double) value);
            throw range(Describe.brief(value) + " is not " + (isFinite ? "exact as a binary64" : "a finite number"));
        }
        if (to.sink.isCoded()) {
            writeCoded(f, to.sink);
        } else {
            writePlain(f, to.sink);
        }
    }

    private void writePlain(double f, Sink sink) {
        long at = Part.key(id, Part.VALUE);
        long form = Part.key(id, Part.FORM);
        Decimal d = Decimal.of(f);
        switch (form(f, d)) {
            case SHORT:
                sink.index(form, 0, 2);
                sink.index(Part.key(id, Part.SIGN), d.negative ? 1 : 0, 2);
                sink.index(Part.key(id, Part.PLACES), d.places, SHORT_PLACES);
                sink.index(at, d.size(), SHORT_SIZES);
                sink.raw(at, d.size() < 2 ? 0 : d.mantissa ^ 1L << (d.size() - 1), Math.max(d.size() - 1, 0));
                break;
            case SINGLE:
                sink.index(form, 0b10, 4);
                writeBinary(f, 32, sink);
                break;
            case LONG:
                sink.index(form, 0b110, 8);
                sink.index(Part.key(id, Part.SIGN), d.negative ? 1 : 0, 2);
                sink.index(Part.key(id, Part.PLACES), d.places, MAX_PLACES + 1);
                sink.sized(at, d.mantissa);
                break;
            default:
                sink.index(form, 0b111, 8);
                writeBinary(f, 64, sink);
        }
    }

    private void writeCoded(double f, Sink sink) {
        long form = Part.key(id, Part.FORM);
        Decimal d = Decimal.of(f);
        if (d != null) {
            sink.index(form, 0, FORMS);
            sink.index(Part.key(id, Part.SIGN), d.negative ? 1 : 0, 2);
            sink.index(Part.key(id, Part.PLACES), d.places, MAX_PLACES + 1);
            sink.sized(Part.key(id, Part.VALUE), d.mantissa);
        } else {
            sink.index(form, isSingle(f) ? 1 : 2, FORMS);
            writeBinary(f, isSingle(f) ? 32 : 64, sink);
        }
    }

    private void writeBinary(double f, int bits, Sink sink) {
        long value = bits == 32 ? Float.floatToRawIntBits((float) f) & 0xffff_ffffL : Double.doubleToRawLongBits(f);
        sink.raw(Part.key(id, Part.VALUE), value, bits);
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        return Values.number(from.source.isCoded() ? readCoded(from.source, offset) : readPlain(from.source, offset));
    }

    private double readPlain(Source source, int offset) {
        long key = Part.key(id, Part.FORM);
        Form form;
        double f;
        if (source.index(key, 2) == 0) {
            form = Form.SHORT;
            f = readDecimal(source, offset, true);
        } else if (source.index(key, 2) == 0) {
            form = Form.SINGLE;
            f = readBinary(source, 32, offset);
        } else if (source.index(key, 2) == 1) {
            form = Form.DOUBLE;
            f = readBinary(source, 64, offset);
        } else {
            form = Form.LONG;
            f = readDecimal(source, offset, false);
        }
        if (form(f, Decimal.of(f)) != form) {
            throw otherForm(offset);
        }
        return f;
    }

    private double readCoded(Source source, int offset) {
        long form = source.index(Part.key(id, Part.FORM), FORMS);
        if (form == 0) {
            return readDecimal(source, offset, false);
        }
        double f = readBinary(source, form == 1 ? 32 : 64, offset);
        if (form == 2 && isSingle(f) || Decimal.of(f) != null) {
            throw otherForm(offset);
        }
        return f;
    }

    private double readDecimal(Source source, int offset, boolean isShort) {
        boolean negative = source.index(Part.key(id, Part.SIGN), 2) == 1;
        int places = (int) source.index(Part.key(id, Part.PLACES), isShort ? SHORT_PLACES : MAX_PLACES + 1);
        long at = Part.key(id, Part.VALUE);
        long mantissa;
        if (isShort) {
            int size = (int) source.index(at, SHORT_SIZES);
            mantissa = size == 0 ? 0 : 1L << (size - 1) | source.raw(at, size - 1);
        } else {
            mantissa = source.sized(at);
        }
        Decimal d = new Decimal(negative, places, mantissa);
        if (!d.isShortestText()) {
            throw otherForm(offset);
        }
        return d.toFloat();
    }

    private double readBinary(Source source, int bits, int offset) {
        long raw = source.raw(Part.key(id, Part.VALUE), bits);
        double f = bits == 32 ? Float.intBitsToFloat((int) raw) : Double.longBitsToDouble(raw);
        if (!Double.isFinite(f)) {
            throw new PackedException(Kind.RANGE, offset, "a number that is not finite");
        }
        return f;
    }

    private static PackedException otherForm(int offset) {
        return new PackedException(Kind.MALFORMED, offset, "a float that has another, shorter form");
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        return value instanceof Number && !Double.isNaN(exact(value));
    }

    @Override
    long maxBits() {
        return MAX_BITS;
    }

    @Override
    void addLeaves(Leaves leaves) {
        leaves.index(Part.key(id, Part.FORM), FORMS);
        leaves.index(Part.key(id, Part.SIGN), 2);
        leaves.index(Part.key(id, Part.PLACES), MAX_PLACES + 1);
        leaves.opaque();
    }
}
