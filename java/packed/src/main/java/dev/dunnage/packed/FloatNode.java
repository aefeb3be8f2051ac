package dev.dunnage.packed;

import java.math.BigDecimal;
import java.math.BigInteger;

/** A binary float, in the form that its body has for it. {@code spec/packed.md}, "Floats" and "Modelled bodies". */
final class FloatNode extends Node {
    /** The most places of a decimal in a plain or coded body, and in a modelled one. */
    private static final int MAX_PLACES = 12;
    private static final int MODELLED_PLACES = 15;
    /** The mantissas in a plain or coded body are below this. */
    private static final double MAX_MANTISSA = 1L << 48;
    /** Decimals of 15 digits are read as different floats, so that a float has at most one of them, its shortest text. */
    private static final double DIGITS_15 = 1e15;
    /** Up to here, whole numbers are floats. */
    private static final long MAX_EXACT = 1L << 53;
    private static final int SHORT_PLACES = 8;
    private static final int SHORT_SIZES = 32;
    private static final int MAX_BITS = 67;
    /** The forms of a coded or modelled body: a decimal, binary32 and binary64. */
    private static final int FORMS = 3;

    private enum Form { SHORT, SINGLE, LONG, DOUBLE }

    /** The shortest decimal text of a float: mantissa * 10^-places. */
    private static final class Decimal {
        final boolean negative;
        final int places;
        final long mantissa;

        Decimal(boolean negative, int places, long mantissa) {
            this.negative = negative;
            this.places = places;
            this.mantissa = mantissa;
        }

        /** Returns null if the decimal has too many places or digits for the body. */
        static Decimal of(double f, Body body) {
            boolean modelled = body == Body.MODELLED;
            double most = modelled ? DIGITS_15 : MAX_MANTISSA;
            for (int places = 0; places < placeCount(body); places++) {
                double mantissa = Math.rint(Math.abs(f) * Floats.POWERS[places]);
                if (mantissa < most && mantissa / Floats.POWERS[places] == Math.abs(f)) {
                    return new Decimal(Double.doubleToRawLongBits(f) < 0, places, (long) mantissa);
                }
            }
            return modelled ? longer(f) : null;
        }

        /** Returns the decimal of a float that has none of 15 digits; null if it has too many places, or 64 bits. */
        private static Decimal longer(double f) {
            BigDecimal shortest = Floats.shortest(Math.abs(f));
            int places = Math.max(shortest.scale(), 0);
            // The number of digits of the mantissa, which has 19 at most.
            if (places > MODELLED_PLACES || shortest.precision() - (long) shortest.scale() + places > 19) {
                return null;
            }
            BigInteger mantissa = shortest.setScale(places).unscaledValue();
            return mantissa.bitLength() < Long.SIZE ? new Decimal(f < 0, places, mantissa.longValue()) : null;
        }

        /** Returns the float, whether or not this is its shortest text. */
        double toFloat() {
            double f = mantissa < MAX_EXACT ? mantissa / Floats.POWERS[places] : BigDecimal.valueOf(mantissa, places).doubleValue();
            return negative ? -f : f;
        }

        int size() {
            return Long.SIZE - Long.numberOfLeadingZeros(mantissa);
        }

        boolean isShort() {
            return places < SHORT_PLACES && size() < SHORT_SIZES;
        }

        boolean isShortestText(Body body) {
            Decimal shortest = mantissa >= 0 ? of(toFloat(), body) : null;
            return shortest != null && shortest.places == places && shortest.mantissa == mantissa;
        }
    }

    FloatNode(int id) {
        super(id);
    }

    /** Returns how many numbers of places a decimal may have. */
    private static int placeCount(Body body) {
        return 1 + (body == Body.MODELLED ? MODELLED_PLACES : MAX_PLACES);
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
        if (to.sink.body() == Body.PLAIN) {
            writePlain(f, to.sink);
        } else {
            writeThreeForms(f, to.sink);
        }
    }

    private void writePlain(double f, Sink sink) {
        long at = Part.key(id, Part.VALUE);
        long form = Part.key(id, Part.FORM);
        Decimal d = Decimal.of(f, Body.PLAIN);
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
                sink.index(Part.key(id, Part.PLACES), d.places, placeCount(Body.PLAIN));
                sink.sized(at, d.mantissa);
                break;
            default:
                sink.index(form, 0b111, 8);
                writeBinary(f, 64, sink);
        }
    }

    /** Writes a float of a coded or modelled body. */
    private void writeThreeForms(double f, Sink sink) {
        long form = Part.key(id, Part.FORM);
        Decimal d = Decimal.of(f, sink.body());
        if (d != null) {
            sink.index(form, 0, FORMS);
            sink.index(Part.key(id, Part.SIGN), d.negative ? 1 : 0, 2);
            sink.index(Part.key(id, Part.PLACES), d.places, placeCount(sink.body()));
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
        return Values.number(from.source.body() == Body.PLAIN ? readPlain(from.source, offset) : readThreeForms(from.source, offset));
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
        if (form(f, Decimal.of(f, Body.PLAIN)) != form) {
            throw otherForm(offset);
        }
        return f;
    }

    private double readThreeForms(Source source, int offset) {
        long form = source.index(Part.key(id, Part.FORM), FORMS);
        if (form == 0) {
            return readDecimal(source, offset, false);
        }
        double f = readBinary(source, form == 1 ? 32 : 64, offset);
        if (form == 2 && isSingle(f) || Decimal.of(f, source.body()) != null) {
            throw otherForm(offset);
        }
        return f;
    }

    private double readDecimal(Source source, int offset, boolean isShort) {
        boolean negative = source.index(Part.key(id, Part.SIGN), 2) == 1;
        int places = (int) source.index(Part.key(id, Part.PLACES), isShort ? SHORT_PLACES : placeCount(source.body()));
        long at = Part.key(id, Part.VALUE);
        long mantissa;
        if (isShort) {
            int size = (int) source.index(at, SHORT_SIZES);
            mantissa = size == 0 ? 0 : 1L << (size - 1) | source.raw(at, size - 1);
        } else {
            mantissa = source.sized(at);
        }
        Decimal d = new Decimal(negative, places, mantissa);
        if (!d.isShortestText(source.body())) {
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
        leaves.index(Part.key(id, Part.PLACES), placeCount(Body.CODED));
        leaves.opaque(Part.key(id, Part.VALUE));
    }
}
