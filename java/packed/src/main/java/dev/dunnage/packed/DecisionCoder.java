package dev.dunnage.packed;

/** Writes or reads the decisions of a modelled body, so that one implementation of the model serves both. */
interface DecisionCoder {
    /**
     * Codes one decision. A writer writes {@code bit}, 0 or 1, and returns it; a reader ignores it and returns the decision that it reads.
     *
     * @param p the probability that the decision is 1, in units of 1/65,536, from 1 to 65,535
     */
    int code(int bit, int p);

    /** Returns the byte where the next decision begins, for the errors of a reader. A writer returns 0. */
    int offset();

    /** Codes the decisions of the prior, which have no bytes. */
    DecisionCoder NOWHERE = new DecisionCoder() {
        @Override
        public int code(int bit, int p) {
            return bit;
        }

        @Override
        public int offset() {
            return 0;
        }
    };
}
