package dev.dunnage.packed;

/**
 * Codes the numbers of a modelled body: a decision for each bit, the highest first. {@code spec/packed.md}, "Numbers" of "Contexts".
 *
 * <p>A writer passes the number and gets it back. A reader passes 0.
 */
final class NumberCoder {
    /** Tell the kinds of numbers apart in contexts. An index is told by its number of bits. */
    private static final int RAW = 64;
    private static final int SIZED = 200;
    /** The contexts that do not include all bits so far: those of the two likely numbers, and of the depth. */
    private static final int LIKELY = 7;
    private static final int NEXT = 8;
    private static final int DEPTH = 9;

    private final Model model;
    private final DecisionCoder coder;

    /** The place of the number: hashes of it, of it with the last key, and of each context without the bits. */
    private int place;
    private int under;
    private final int[] bases = new int[DEPTH + 1];
    private int part;
    /** A hash of the bits so far, and the number of decisions. */
    private int prefix;
    private int depth;
    /** The likely numbers, and whether they agree with the bits so far. */
    private long last;
    private boolean isLastLikely;
    private int hitsOfLast;
    private long next;
    private boolean isNextLikely;
    private int hitsOfNext;

    NumberCoder(Model model, DecisionCoder coder) {
        this.model = model;
        this.coder = coder;
    }

    /** Codes a number from 0 to {@code count} - 1. */
    long index(long key, long value, long count) {
        int bits = Part.indexBits(count);
        begin(key, bits);
        return remember(bits(value, bits, count - 1));
    }

    /** Codes a number of {@code bits} bits. */
    long raw(long key, long value, int bits) {
        begin(key, RAW + bits);
        return remember(bits(value, bits, -1));
    }

    /** Codes a sized number: first its size, then the bits below the highest one. */
    long sized(long key, long value) {
        int offset = coder.offset();
        begin(key, SIZED);
        long lastNumber = last;
        long nextNumber = next;
        boolean hasLast = isLastLikely;
        boolean hasNext = isNextLikely;
        last = size(lastNumber);
        next = size(nextNumber);
        int size = (int) bits(size(value), BitWriter.SIZE_BITS, BitWriter.FULL);
        int bits = size == BitWriter.FULL ? Long.SIZE : Math.max(size - 1, 0);
        long high = size == 0 || size == BitWriter.FULL ? 0 : 1L << bits;
        last = lastNumber & ~high;
        next = nextNumber & ~high;
        isLastLikely = hasLast && size(lastNumber) == size;
        isNextLikely = hasNext && size(nextNumber) == size;
        prefix = Hashes.hash(1, size);
        return remember(BitReader.sized(size, bits(value & ~high, bits, -1), offset));
    }

    /** Returns the size of a sized number: the number of its significant bits, but 63 for both 63 and 64. */
    private static int size(long value) {
        return Math.min(Long.SIZE - Long.numberOfLeadingZeros(value), BitWriter.FULL);
    }

    private void begin(long key, int kind) {
        place = Part.place(key);
        under = Hashes.hash(place, model.lastKey);
        part = Part.part(key);
        Past past = model.past;
        int found = past.find(under);
        int at = found == 0 ? past.find(place) : found;
        int count = past.count(at);
        int lastHash = Hashes.fold(past.last(at));
        bases[0] = Hashes.of(0, part, kind);
        bases[1] = Hashes.of(1, place);
        bases[2] = Hashes.of(2, under);
        bases[3] = Hashes.of(3, under, lastHash, Math.min(count, 1));
        bases[4] = Hashes.of(4, under, lastHash, Hashes.fold(past.before(at)), Math.min(count, 2));
        bases[5] = Hashes.of(5, place, model.lastNumber);
        bases[6] = Hashes.of(6, place, model.lastText);
        bases[LIKELY] = Hashes.of(7, part);
        bases[NEXT] = Hashes.of(8, part);
        bases[DEPTH] = Hashes.of(9, place);
        prefix = 1;
        depth = 0;
        last = past.last(at);
        next = past.next(at);
        isLastLikely = count > 0;
        isNextLikely = count > 1;
        hitsOfLast = Math.min(past.hitsOfLast(at), 3);
        hitsOfNext = Math.min(past.hitsOfNext(at), 3);
    }

    /** Codes the lowest {@code bits} bits of {@code value}, which is at most {@code most}. A bit that must be 0 for that takes no decision. */
    private long bits(long value, int bits, long most) {
        long read = 0;
        for (int shift = bits - 1; shift >= 0; shift--) {
            long one = 1L << shift;
            if (Long.compareUnsigned(read | one, most) > 0) {
                continue;
            }
            setContexts(shift);
            int set = 4 * part + Math.min(depth, 3);
            int bit = model.code(model.numberMixer, coder, set, Mixer.SECOND_SETS + shift, (int) (value >>> shift) & 1);
            read |= (long) bit << shift;
            prefix = Hashes.hash(prefix, 2 + bit);
            depth++;
            isLastLikely &= last >>> shift == read >>> shift;
            isNextLikely &= next >>> shift == read >>> shift;
        }
        return read;
    }

    private void setContexts(int shift) {
        int[] contexts = model.numberMixer.contexts;
        for (int i = 0; i < LIKELY; i++) {
            contexts[i] = Hashes.hash(bases[i], prefix);
        }
        contexts[LIKELY] = Hashes.hash(bases[LIKELY], likely(isLastLikely, last, hitsOfLast, shift));
        contexts[NEXT] = Hashes.hash(bases[NEXT], likely(isNextLikely, next, hitsOfNext, shift));
        contexts[DEPTH] = Hashes.hash(bases[DEPTH], Hashes.hash(shift, depth));
    }

    private int likely(boolean isLikely, long number, int hits, int shift) {
        return isLikely ? Hashes.of((int) (number >>> shift) & 1, hits, Math.min(depth, 15)) : Hashes.of(2, hits, 0);
    }

    private long remember(long value) {
        model.past.learn(place, value);
        model.past.learn(under, value);
        model.lastNumber = Hashes.of(place, (int) value, (int) (value >>> 32));
        return value;
    }
}
