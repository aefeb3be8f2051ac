package dev.dunnage.packed;

/** Writes a coded body. */
final class CodedSink extends Coded implements Sink {
    private final RangeWriter coder;

    CodedSink(RangeWriter coder, Leaves leaves, Parts reference) {
        super(leaves, reference);
        this.coder = coder;
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public void index(long key, long value, long count) {
        code(key, value, count);
    }

    @Override
    public void sized(long key, long value) {
        opaque(key, Datum.sized(value), 0, 0);
    }

    @Override
    public void raw(long key, long value, int bits) {
        opaque(key, Datum.raw(value, bits), 0, 0);
    }

    @Override
    public void text(long key, String text, long min, long max) {
        opaque(key, Datum.text(text), min, max);
    }

    @Override
    long code(Tables.Table table, long number) {
        table.write(coder, number);
        return number;
    }

    @Override
    long equally(long value, long count) {
        coder.index(0, value, count);
        return value;
    }

    @Override
    Datum plain(Datum given, long min, long max) {
        switch (given.form) {
            case SIZED:
                coder.sized(0, given.value);
                break;
            case RAW:
                coder.raw(0, given.value, (int) given.size);
                break;
            default:
                coder.text(0, given.text, min, max);
        }
        return given;
    }

    @Override
    public int offset() {
        return 0;
    }
}
