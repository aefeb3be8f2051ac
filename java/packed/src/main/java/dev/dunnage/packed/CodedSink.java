package dev.dunnage.packed;

/** Writes the body of the prior form with the tables of values. */
final class CodedSink implements Sink {
    private final RangeWriter coder;
    private final Leaves leaves;
    private final Tables.Before before;

    CodedSink(RangeWriter coder, Leaves leaves) {
        this.coder = coder;
        this.leaves = leaves;
        before = new Tables.Before(leaves.list.size());
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public void index(long key, long value, long count) {
        if (count < 2) {
            return;
        }
        int at = leaves.find(key);
        long every = at < 0 ? 0 : leaves.list.get(at).every;
        if (at < 0) {
            coder.bits(value, Part.indexBits(count));
        } else if (every > 0) {
            leaf(at, value / every, (count - 1) / every + 1);
            leaf(at + 1, value % every, every);
        } else {
            leaf(at, value, count);
        }
    }

    private void leaf(int at, long value, long count) {
        Tables tables = leaves.list.get(at).tables;
        if (tables == null) {
            coder.bits(value, Part.indexBits(count));
        } else {
            tables.select(before).write(coder, value);
        }
        before.values[at] = value;
        before.written[at] = value;
    }

    @Override
    public void sized(long key, long value) {
        int significant = Math.min(Long.SIZE - Long.numberOfLeadingZeros(value), BitWriter.FULL);
        coder.bits(significant, BitWriter.SIZE_BITS);
        coder.bits(value, significant == BitWriter.FULL ? Long.SIZE : Math.max(significant - 1, 0));
    }

    @Override
    public void raw(long key, long value, int bits) {
        coder.bits(value, bits);
    }
}
