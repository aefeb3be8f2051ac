package dev.dunnage.packed;

/** Writes a modelled body. */
final class ModelledSink implements Sink {
    private final Model model;
    private final DecisionWriter writer;
    private final NumberCoder numbers;
    private final TextCoder texts;

    /** Creates a sink of a message that begins with these bytes. */
    ModelledSink(Model model, byte[] start) {
        this.model = model;
        writer = new DecisionWriter(start);
        numbers = new NumberCoder(model, writer);
        texts = new TextCoder(model, writer);
    }

    /** Returns the message. */
    byte[] finish() {
        byte[] message = writer.finish();
        model.check(message.length);
        return message;
    }

    @Override
    public Body body() {
        return Body.MODELLED;
    }

    @Override
    public void index(long key, long value, long count) {
        numbers.index(key, value, count);
    }

    @Override
    public void sized(long key, long value) {
        numbers.sized(key, value);
    }

    @Override
    public void raw(long key, long value, int bits) {
        numbers.raw(key, value, bits);
    }

    @Override
    public void text(long key, String text, long min, long max) {
        texts.write(key, text, min, max);
    }
}
