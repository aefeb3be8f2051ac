package dev.dunnage.packed;

/**
 * Converts between probabilities and logarithmic odds, and adapts probabilities, in integers. {@code spec/packed.md}, "Probabilities".
 *
 * <p>Odds are ln(p / (1 - p)) in units of 1/256, from -3,071 to 3,071. Probabilities are in units of 1/65,536.
 */
final class Logistic {
    /** The largest odds. */
    static final int MAX_ODDS = 3071;

    /** 65,536 / (1 + e^-(k/2)) for k from 0 to 24, at most 65,535. */
    private static final int[] KNOTS = {
        32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514, 65523, 65528, 65531,
        65533, 65534, 65535, 65535, 65535
    };
    /** The probabilities of the odds from -{@link #MAX_ODDS} on. */
    private static final int[] PROBABILITIES = new int[2 * MAX_ODDS + 1];
    /** The odds of each value of the highest twelve bits of a probability. */
    private static final short[] ODDS = new short[4096];
    /** 65,536 / (n + 1.5): the rate at which a probability moves towards the n-th decision. */
    private static final int[] RATES = new int[256];

    static {
        for (int odds = -MAX_ODDS; odds <= MAX_ODDS; odds++) {
            int size = Math.abs(odds);
            int knot = size / 128;
            int p = KNOTS[knot] + (KNOTS[knot + 1] - KNOTS[knot]) * (size % 128) / 128;
            PROBABILITIES[odds + MAX_ODDS] = odds < 0 ? 65536 - p : p;
        }
        int odds = -MAX_ODDS;
        for (int p = 0; p < ODDS.length; p++) {
            while (odds < MAX_ODDS && squash(odds) < 16 * p + 8) {
                odds++;
            }
            ODDS[p] = (short) odds;
        }
        for (int n = 0; n < RATES.length; n++) {
            RATES[n] = 131_072 / (2 * n + 3);
        }
    }

    private Logistic() {}

    /** Returns the probability of odds, 1 to 65,535. */
    static int squash(int odds) {
        return PROBABILITIES[odds + MAX_ODDS];
    }

    /** Returns the odds of a probability. Only its highest twelve bits count. */
    static int stretch(int p) {
        return ODDS[p >> 4];
    }

    /** Returns a probability after a decision, the n-th one. */
    static int adapt(int p, int bit, int n) {
        int rate = RATES[n];
        // 65,535 * 43,690 takes 32 bits, so that the shift is unsigned.
        return bit == 1 ? p + ((65_535 - p) * rate >>> 16) : p - (p * rate >>> 16);
    }
}
