package dev.dunnage.packed;

/** Reads a coded body. */
final class CodedSource extends Coded implements Source {
    private final RangeReader coder;

    CodedSource(RangeReader coder, Leaves leaves, Parts reference) {
        super(leaves, reference);
        this.coder = coder;
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public long index(long key, long count) {
        return code(key, 0, count);
    }

    @Override
    public long sized(long key) {
        return opaque(key, Datum.sized(0), 0, 0).value;
    }

    @Override
    public long raw(long key, int bits) {
        return opaque(key, Datum.raw(0, bits), 0, 0).value;
    }

    @Override
    public String text(long key, long min, long max) {
        return opaque(key, Datum.text(""), min, max).text;
    }

    @Override
    long code(Tables.Table table, long number) {
        return table.read(coder);
    }

    @Override
    long equally(long value, long count) {
        return coder.index(0, count);
    }

    @Override
    Datum plain(Datum given, long min, long max) {
        switch (given.form) {
            case SIZED:
                return Datum.sized(coder.sized(0));
            case RAW:
                return Datum.raw(coder.raw(0, (int) given.size), (int) given.size);
            default:
                return Datum.text(coder.text(0, min, max));
        }
    }

    @Override
    public int offset() {
        return coder.offset();
    }
}
