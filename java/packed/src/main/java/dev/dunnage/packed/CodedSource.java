package dev.dunnage.packed;

/** Reads the body of the prior form with the tables of values. */
final class CodedSource implements Source {
    private final RangeReader coder;
    private final Leaves leaves;
    private final Tables.Before before;

    CodedSource(RangeReader coder, Leaves leaves) {
        this.coder = coder;
        this.leaves = leaves;
        before = new Tables.Before(leaves.list.size());
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public long index(long key, long count) {
        if (count < 2) {
            return 0;
        }
        int at = leaves.find(key);
        long every = at < 0 ? 0 : leaves.list.get(at).every;
        if (at < 0) {
            return equally(count);
        }
        if (every == 0) {
            return leaf(at, count);
        }
        int offset = coder.offset();
        long steps = leaf(at, (count - 1) / every + 1);
        long rest = leaf(at + 1, every);
        // The steps times every is below the count, so that the sum does not overflow.
        return within(steps * every + rest, count, offset);
    }

    private long leaf(int at, long count) {
        int offset = coder.offset();
        Tables tables = leaves.list.get(at).tables;
        long value = tables == null ? equally(count) : within(tables.select(before).read(coder), count, offset);
        before.values[at] = value;
        before.written[at] = value;
        return value;
    }

    private long equally(long count) {
        int offset = coder.offset();
        return within(coder.bits(Part.indexBits(count)), count, offset);
    }

    private static long within(long value, long count, int offset) {
        if (value < 0 || value >= count) {
            throw new PackedException(Kind.RANGE, offset, "an index beyond the values of the schema");
        }
        return value;
    }

    @Override
    public long sized(long key) {
        int offset = coder.offset();
        int size = (int) coder.bits(BitWriter.SIZE_BITS);
        return BitReader.sized(size, coder.bits(size == BitWriter.FULL ? Long.SIZE : Math.max(size - 1, 0)), offset);
    }

    @Override
    public long raw(long key, int bits) {
        return coder.bits(bits);
    }

    @Override
    public int offset() {
        return coder.offset();
    }
}
