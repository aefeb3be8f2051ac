package dev.dunnage.packed;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * The state that predicts the decisions of a modelled body. Writer and reader of a message go through the same states. {@code spec/packed.md},
 * "Modelled bodies".
 */
final class Model {
    private static final int MAX_DECISIONS = 1 << 23;
    /** The number of the decision before which the table doubles. */
    private static final int MANY_DECISIONS = 1 << 14;
    private static final int NUMBER_CONTEXTS = 10;
    private static final int TEXT_CONTEXTS = 16;
    /** Models that no message uses. One takes 2 MiB and more, so that they are used again, by as many threads as work at the same time. */
    private static final BlockingQueue<Model> IDLE = new ArrayBlockingQueue<>(Math.max(Runtime.getRuntime().availableProcessors(), 1));

    private final SlotTable table = new SlotTable();
    final Mixer numberMixer = new Mixer(NUMBER_CONTEXTS);
    final Mixer textMixer = new Mixer(TEXT_CONTEXTS);
    final Past past = new Past();
    final History history = new History();
    /** Hashes of the last number with its place, of the last text, and of the last key. */
    int lastNumber;
    int lastText;
    int lastKey;
    private int decisions;
    private int most = MAX_DECISIONS;
    private boolean doubles;

    Model() {}

    /** Returns a model that has learned the prior and nothing else. It belongs to the caller until {@link #release}. */
    static Model primed() {
        Model idle = IDLE.poll();
        Model model = idle == null ? new Model() : idle;
        model.copy(Prior.MODEL);
        return model;
    }

    /** Gives a model back that {@link #primed} returned. */
    static void release(Model model) {
        IDLE.offer(model);
    }

    private void copy(Model prior) {
        table.copy(prior.table);
        numberMixer.copy(prior.numberMixer);
        textMixer.copy(prior.textMixer);
        past.copy(prior.past);
        history.copy(prior.history);
        lastNumber = prior.lastNumber;
        lastText = prior.lastText;
        lastKey = prior.lastKey;
        decisions = 0;
        most = MAX_DECISIONS;
        doubles = true;
    }

    /** Sets the most decisions to those of a message of {@code bytes} bytes. It keeps a small message from taking seconds to decode. */
    void expect(int bytes) {
        most = mostDecisions(bytes);
    }

    /** Checks that a message of {@code bytes} bytes may have the decisions so far. */
    void check(int bytes) {
        if (decisions > mostDecisions(bytes)) {
            throw tooMany(0);
        }
    }

    private static int mostDecisions(int bytes) {
        return (int) Math.min((1 << 18) + ((long) bytes << 11), MAX_DECISIONS);
    }

    private static PackedException tooMany(int offset) {
        return new PackedException(Kind.LIMIT, offset, "more decisions than a message of this size may have");
    }

    /** Codes a decision in the contexts of {@code mixer} with the selected sets of weights. Returns 0 or 1. */
    int code(Mixer mixer, DecisionCoder coder, int set1, int set2, int bit) {
        decisions++;
        if (doubles && decisions == MANY_DECISIONS) {
            table.twice();
        }
        if (decisions > most) {
            throw tooMany(coder.offset());
        }
        int p = mixer.predict(table, set1, set2);
        int coded = coder.code(bit, p);
        mixer.update(table, coded);
        return coded;
    }
}
