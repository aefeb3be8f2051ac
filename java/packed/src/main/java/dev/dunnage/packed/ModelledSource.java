package dev.dunnage.packed;

/** Reads a modelled body. */
final class ModelledSource implements Source {
    private final DecisionReader reader;
    private final NumberCoder numbers;
    private final TextCoder texts;

    /** Creates a source of the first {@code length} bytes of a message, which begins at byte {@code start}. */
    ModelledSource(Model model, byte[] message, int length, int start) {
        model.expect(length);
        reader = new DecisionReader(message, length, start);
        numbers = new NumberCoder(model, reader);
        texts = new TextCoder(model, reader);
    }

    /** Checks that the message ends here. */
    void finish() {
        reader.finish();
    }

    @Override
    public Body body() {
        return Body.MODELLED;
    }

    @Override
    public long index(long key, long count) {
        return numbers.index(key, 0, count);
    }

    @Override
    public long sized(long key) {
        return numbers.sized(key, 0);
    }

    @Override
    public long raw(long key, int bits) {
        return numbers.raw(key, 0, bits);
    }

    @Override
    public String text(long key, long min, long max) {
        return texts.read(key, min, max);
    }

    @Override
    public int offset() {
        return reader.offset();
    }
}
