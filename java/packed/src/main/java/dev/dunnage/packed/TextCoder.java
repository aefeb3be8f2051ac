package dev.dunnage.packed;

import java.nio.charset.StandardCharsets;

/** Codes the texts of a modelled body: a decision for each bit of their bytes that UTF-8 does not determine. {@code spec/packed.md}, "Texts". */
final class TextCoder {
    private static final int END = History.END;
    private static final int MATCH = 15;

    private final Model model;
    private final DecisionCoder coder;
    private final int[] bases = new int[MATCH + 1];
    private final int[] half = new int[MATCH + 1];

    /** The place of the text: hashes of it, and of it with the last key. */
    private int place;
    private int under;
    private boolean isKey;
    /** The index in the history where the text begins. */
    private int start;
    /** Hashes of the bytes so far, of the letters of the current word, and of the word before. */
    private int prefix;
    private int word;
    private int lastWord;
    /** The classes of the last eight bytes, four bits each. */
    private int kinds;
    /** The index in the history of the predicted byte, or -1, and the length of the match before it. */
    private int match;
    private int length;
    /** The index in the history of the byte of the last text of this place, or -1, and how many bytes before it were other ones. */
    private int column;
    private int misses;
    /** The bytes that the current character still lacks. */
    private int rest;

    TextCoder(Model model, DecisionCoder coder) {
        this.model = model;
        this.coder = coder;
    }

    /** Writes text of {@code min} to {@code max} code points. */
    void write(long key, String text, long min, long max) {
        code(key, text.getBytes(StandardCharsets.UTF_8), min, max);
        end();
    }

    /** Reads text of {@code min} to {@code max} code points. */
    String read(long key, long min, long max) {
        int offset = coder.offset();
        code(key, new byte[0], min, max);
        String text = model.history.text(start);
        if (text == null) {
            throw new PackedException(Kind.MALFORMED, offset, "text that is not UTF-8");
        }
        end();
        return text;
    }

    /** Codes the bytes of a text up to its end. A reader passes none. */
    private void code(long key, byte[] given, long min, long max) {
        begin(key);
        long characters = 0;
        for (int i = 0; rest > 0 || characters != max; i++) {
            int coded = codeByte(i < given.length ? given[i] & 0xff : END, characters >= min);
            if (coded == END && rest == 0) {
                return;
            }
            characters += rest == 0 ? 1 : 0;
            learn(coded);
        }
    }

    private void begin(long key) {
        place = Part.place(key);
        under = Hashes.hash(place, model.lastKey);
        isKey = Part.part(key) == Part.KEY;
        start = model.history.size();
        prefix = 0;
        word = 0;
        lastWord = 0;
        kinds = 0;
        int last = model.history.textOf(under);
        column = last >= 0 ? last : model.history.textOf(place);
        misses = 0;
        match = column;
        length = 0;
        rest = 0;
    }

    private void end() {
        learn(END);
        model.history.remember(place, start);
        model.history.remember(under, start);
        model.lastText = prefix;
        model.lastKey = isKey ? prefix : model.lastKey;
    }

    /**
     * Codes the next byte. Bits that UTF-8 determines take no decision: the first two of a byte inside a character, and the bit that the text goes on
     * while it may not end yet.
     */
    private int codeByte(int value, boolean mayEnd) {
        setBases();
        System.arraycopy(bases, 0, half, 0, bases.length);
        boolean inside = rest > 0;
        int read = inside ? END : 0;
        for (int shift = inside ? 5 : 7; shift >= 0; shift--) {
            if (shift == 6 && read == END && !mayEnd) {
                read |= 0x40;
                continue;
            }
            if (shift == 3) {
                for (int i = 0; i < MATCH; i++) {
                    half[i] = Hashes.hash(bases[i], (read >> 4) + 1);
                }
            }
            read |= codeBit(value >> shift & 1, read, shift) << shift;
            if (shift == 6 && !inside && read == END) {
                break;
            }
        }
        return read;
    }

    private void setBases() {
        History history = model.history;
        int a = history.last(0);
        int two = a | history.last(1) << 8;
        int three = two | history.last(2) << 16;
        int four = three | history.last(3) << 24;
        int beside = column < 0 ? 0x100 : history.at(column);
        bases[0] = Hashes.of(20, rest);
        bases[1] = Hashes.of(21, a);
        bases[2] = Hashes.of(22, two);
        bases[3] = Hashes.of(23, three);
        bases[4] = Hashes.of(24, four);
        bases[5] = Hashes.of(25, four, history.last(4), history.last(5));
        bases[6] = Hashes.of(26, word);
        bases[7] = Hashes.of(27, word, lastWord);
        bases[8] = Hashes.of(28, under, prefix);
        bases[9] = Hashes.of(29, place, prefix);
        bases[10] = Hashes.of(30, place, a);
        bases[11] = Hashes.of(31, place, kinds & 0xFFFF);
        bases[12] = Hashes.of(32, isKey ? 1 : 0, word);
        bases[13] = Hashes.of(33, under, beside, Math.min(misses, 3), a);
        bases[14] = Hashes.of(34, kinds & 0xFFF, Math.min(history.size() - start, 20));
    }

    /** Codes the bit {@code shift} of a byte whose higher bits are in {@code read}. */
    private int codeBit(int bit, int read, int shift) {
        // The bits of the current half byte, behind a leading 1, select one of sixteen neighbouring slots of the table.
        int node = shift > 3 ? 1 << (7 - shift) | read >> (shift + 1) : 1 << (3 - shift) | (read & 15) >> (shift + 1);
        int[] contexts = model.textMixer.contexts;
        for (int i = 0; i < MATCH; i++) {
            contexts[i] = half[i] ^ node;
        }
        // The predicted byte counts only while the bits so far agree with it.
        int predicted = match < 0 ? 0 : model.history.at(match);
        boolean agrees = match >= 0 && predicted >> (shift + 1) == read >> (shift + 1);
        int confidence = agrees ? 1 + Math.min(length, 15) : 0;
        contexts[MATCH] = agrees ? Hashes.of(35, confidence, predicted >> shift & 1, shift) : Hashes.of(35, 0);
        int position = model.history.size() - start;
        int set1 = 16 * (confidence < 3 ? Math.min(confidence, 1) : confidence < 9 ? 2 : 3) + (kinds & 15);
        int set2 = Mixer.SECOND_SETS + 8 * (position < 3 ? Math.min(position, 1) : 2) + shift;
        return model.code(model.textMixer, coder, set1, set2, bit);
    }

    private void learn(int value) {
        History history = model.history;
        if (column >= 0) {
            int there = history.at(column);
            misses += there == value ? 0 : 1;
            column = there == END ? -1 : column + 1;
        }
        boolean goesOn = match >= 0 && history.at(match) == value;
        int found = history.push(value);
        if (goesOn) {
            match++;
            length++;
        } else {
            match = found == 0 ? -1 : found;
            length = found == 0 ? 0 : history.matching(found);
        }
        rest = value < 0x80 ? 0 : value < 0xC0 ? Math.max(rest - 1, 0) : value < 0xE0 ? 1 : value < 0xF0 ? 2 : 3;
        prefix = Hashes.hash(prefix, value + 1);
        boolean isCapital = value >= 'A' && value <= 'Z';
        boolean isLetter = isCapital || value >= 'a' && value <= 'z' || value >= 0x80;
        int before = kinds & 15;
        // A word ends before a byte that is not a letter, and before a capital behind a small letter or a digit.
        if (word != 0 && (!isLetter || isCapital && before >= 1 && before <= 3)) {
            lastWord = word;
            word = 0;
        }
        if (isLetter) {
            word = Hashes.hash(word, isCapital ? value + 'a' - 'A' : value);
        }
        kinds = kinds << 4 | kind(value);
    }

    private static int kind(int value) {
        if (value >= '0' && value <= '9') {
            return 1;
        } else if (value >= 'a' && value <= 'z') {
            return value <= 'f' ? 2 : 3;
        } else if (value >= 'A' && value <= 'Z') {
            return value <= 'F' ? 4 : 5;
        }
        return value >= 0x80 ? 6 : value == ' ' ? 7 : 8 + (value & 7);
    }
}
