package dev.dunnage.packed;

import java.util.Arrays;

/** Mixes the predictions of several contexts. {@code spec/packed.md}, "Probabilities". */
final class Mixer {
    /** The first set of weights that the second selector chooses. */
    static final int SECOND_SETS = 64;
    /** The sets of both selectors. One for each number of contexts that have been seen before follows. */
    private static final int SETS = 128;
    /** The first weight of each prediction: 1/8. */
    private static final int FIRST_WEIGHT = 1 << 13;
    private static final int MAX_DECISIONS_OF_A_MEANING = 250;

    /** The contexts of the next decision, which the caller sets. */
    final int[] contexts;
    /** The weights of the two predictions of each context in units of 1/65,536, by set. */
    private final int[] weights;
    /** For each context and each pair of counts: the probability of 1, and in the lowest eight bits the number of decisions behind it. */
    private final int[] meanings;
    private final int[] inputs;
    private final int[] found;
    /** The first weight of each set of the last prediction, and what the set predicted. */
    private final int[] used = new int[3];
    private final int[] predicted = new int[3];

    Mixer(int count) {
        contexts = new int[count];
        found = new int[count];
        inputs = new int[2 * count];
        weights = new int[(SETS + count + 1) * inputs.length];
        Arrays.fill(weights, FIRST_WEIGHT);
        meanings = new int[count << 8];
        for (int i = 0; i < meanings.length; i++) {
            int zeros = i >> 4 & 15;
            int ones = i & 15;
            meanings[i] = Math.min((ones * 2 + 1) * 65_536 / ((zeros + ones) * 2 + 2), 65_535) << 8;
        }
    }

    /** Makes what was learned that of another mixer of the same size. */
    void copy(Mixer other) {
        System.arraycopy(other.weights, 0, weights, 0, weights.length);
        System.arraycopy(other.meanings, 0, meanings, 0, meanings.length);
    }

    /** Returns the probability that the decision is 1 in {@link #contexts}, in units of 1/65,536, from 1 to 65,535. */
    int predict(SlotTable table, int set1, int set2) {
        int known = 0;
        for (int i = 0; i < contexts.length; i++) {
            int at = table.find(contexts[i]);
            int seen = table.seen(at);
            found[i] = at;
            inputs[2 * i] = 0;
            inputs[2 * i + 1] = 0;
            if (seen != 0) {
                known++;
                inputs[2 * i] = Logistic.stretch(table.probability(at));
                inputs[2 * i + 1] = Logistic.stretch(meanings[i << 8 | seen] >>> 8);
            }
        }
        used[0] = set1 * inputs.length;
        used[1] = set2 * inputs.length;
        used[2] = (SETS + known) * inputs.length;
        return probability(used[0], used[1], used[2]);
    }

    /** Returns the probability of the three sets with these first weights. */
    private int probability(int first, int second, int third) {
        // Fields in local variables: the compiler does not know that these arrays are different ones.
        int[] x = inputs;
        int[] w = weights;
        long sum1 = 0;
        long sum2 = 0;
        long sum3 = 0;
        for (int k = 0; k < x.length; k++) {
            long input = x[k];
            sum1 += input * w[first + k];
            sum2 += input * w[second + k];
            sum3 += input * w[third + k];
        }
        int odds1 = odds(sum1);
        int odds2 = odds(sum2);
        int odds3 = odds(sum3);
        predicted[0] = Logistic.squash(odds1);
        predicted[1] = Logistic.squash(odds2);
        predicted[2] = Logistic.squash(odds3);
        return Logistic.squash((odds1 + odds2 + odds3) / used.length);
    }

    private static int odds(long sum) {
        return (int) Math.max(Math.min(sum >> 16, Logistic.MAX_ODDS), -Logistic.MAX_ODDS);
    }

    /** Learns the decision that was predicted last. */
    void update(SlotTable table, int bit) {
        int[] x = inputs;
        int[] w = weights;
        for (int i = 0; i < used.length; i++) {
            int error = (bit << 16) - predicted[i] >> 2;
            int first = used[i];
            for (int k = 0; k < x.length; k++) {
                w[first + k] += x[k] * error + (1 << 13) >> 14;
            }
        }
        for (int i = 0; i < found.length; i++) {
            int seen = table.seen(found[i]);
            if (seen != 0) {
                int at = i << 8 | seen;
                int decisions = meanings[at] & 255;
                int p = Logistic.adapt(meanings[at] >>> 8, bit, decisions + 4);
                meanings[at] = p << 8 | Math.min(decisions + 1, MAX_DECISIONS_OF_A_MEANING);
            }
            table.update(found[i], bit);
        }
    }
}
