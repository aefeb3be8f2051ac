package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text of an exact pattern: the numbers of characters of its segments, then all characters in groups below 2^32. */
final class PatternNode extends Node {
    /** The values of a group or piece are fewer than this. */
    private static final long GROUP = 1L << 32;
    /** The most characters of a pattern that an error shows. */
    private static final int SHOWN = 80;

    /** Between {@code min} and {@code max} characters out of {@code characters}, which ascend. */
    static final class Segment {
        final int[] characters;
        final int min;
        final int max;

        Segment(int[] characters, int min, int max) {
            this.characters = characters;
            this.min = min;
            this.max = max;
        }

        /** Returns the index of a character in the class, or a negative number. */
        private int digit(int c) {
            int first = characters[0];
            boolean dense = characters[characters.length - 1] - first == characters.length - 1;
            return dense ? (c - first < characters.length ? c - first : -1) : Arrays.binarySearch(characters, c);
        }

        /** Appends the segment of a regular expression. Three or more characters in a row are a range. */
        private void appendTo(StringBuilder out) {
            out.append(characters.length > 1 ? "[" : "");
            for (int at = 0, end = 0; at < characters.length; at = ++end) {
                while (end + 1 < characters.length && characters[end + 1] == characters[end] + 1) {
                    end++;
                }
                appendLiteral(out, characters[at]);
                if (end > at) {
                    appendLiteral(end - at > 1 ? out.append('-') : out, characters[end]);
                }
            }
            out.append(characters.length > 1 ? "]" : "");
            if (min != 1 || max != 1) {
                out.append('{').append(min).append(min == max ? "" : "," + max).append('}');
            }
        }

        private static void appendLiteral(StringBuilder out, int c) {
            if (Character.isISOControl(c)) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.append("^$.*+?()[]{}|\\-".indexOf(c) >= 0 ? "\\" : "").appendCodePoint(c);
            }
        }
    }

    /** The characters of a segment that are one leaf: at most {@code most}, after the first {@code after} ones. */
    private static final class Piece {
        final int segment;
        final int after;
        final int most;

        Piece(int segment, int after, int most) {
            this.segment = segment;
            this.after = after;
            this.most = most;
        }

        int length(int run) {
            return Math.min(Math.max(run - after, 0), most);
        }
    }

    private final List<Segment> segments;
    /** Empty until a coded body needs them. */
    private List<Piece> pieces = List.of();

    PatternNode(int id, List<Segment> segments) {
        super(id);
        this.segments = segments;
    }

    /** Returns the pattern for the reason of an error, truncated if it is long. */
    private String source() {
        StringBuilder source = new StringBuilder("^");
        for (Segment segment : segments) {
            segment.appendTo(source);
            if (source.length() > SHOWN) {
                return source.substring(0, SHOWN) + "…";
            }
        }
        return source.append('$').toString();
    }

    /** Returns the number of characters of each segment, or null if {@code text} does not match. */
    private int[] runs(int[] text) {
        int[] runs = new int[segments.size()];
        int at = 0;
        for (int i = 0; i < runs.length; i++) {
            Segment segment = segments.get(i);
            while (runs[i] < segment.max && at < text.length && segment.digit(text[at]) >= 0) {
                runs[i]++;
                at++;
            }
            if (runs[i] < segment.min) {
                return null;
            }
        }
        return at == text.length ? runs : null;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        return value instanceof String && runs(((String) value).codePoints().toArray()) != null;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        if (!(value instanceof String)) {
            throw Values.wrongType("a string", value);
        }
        int[] text = ((String) value).codePoints().toArray();
        int[] runs = runs(text);
        if (runs == null) {
            throw range(Describe.brief(value) + " does not match " + source());
        }
        for (int i = 0; i < runs.length; i++) {
            Segment segment = segments.get(i);
            if (segment.min < segment.max) {
                to.sink.index(Part.key(id, Part.COUNT, i), runs[i] - segment.min, segment.max - segment.min + 1L);
            }
        }
        if (to.sink.body() == Body.CODED) {
            writePieces(text, runs, to.sink);
        } else {
            writeGroups(text, runs, to.sink);
        }
        to.limits.takeText((String) value, 0);
    }

    private void writeGroups(int[] text, int[] runs, Sink sink) {
        long key = Part.key(id, Part.VALUE);
        long value = 0;
        long product = 1;
        int at = 0;
        for (int i = 0; i < runs.length; i++) {
            Segment segment = segments.get(i);
            int radix = segment.characters.length;
            for (int end = at + runs[i]; at < end; at++) {
                if (product * radix >= GROUP) {
                    sink.index(key, value, product);
                    value = 0;
                    product = 1;
                }
                value = value * radix + segment.digit(text[at]);
                product *= radix;
            }
        }
        if (product > 1) {
            sink.index(key, value, product);
        }
    }

    private void writePieces(int[] text, int[] runs, Sink sink) {
        int[] starts = starts(runs);
        for (int nth = 0; nth < pieces.size(); nth++) {
            Piece piece = pieces.get(nth);
            Segment segment = segments.get(piece.segment);
            int start = starts[piece.segment] + piece.after;
            long value = 0;
            int length = piece.length(runs[piece.segment]);
            for (int i = 0; i < length; i++) {
                value = value * segment.characters.length + segment.digit(text[start + i]);
            }
            sink.index(Part.key(id, Part.VALUE, nth), value, power(segment, length));
        }
    }

    private static int[] starts(int[] runs) {
        int[] starts = new int[runs.length];
        for (int i = 1; i < runs.length; i++) {
            starts[i] = starts[i - 1] + runs[i - 1];
        }
        return starts;
    }

    private static long power(Segment segment, int length) {
        long power = 1;
        for (int i = 0; i < length; i++) {
            power *= segment.characters.length;
        }
        return power;
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        int[] runs = new int[segments.size()];
        int length = 0;
        for (int i = 0; i < runs.length; i++) {
            Segment segment = segments.get(i);
            runs[i] = segment.min;
            if (segment.min < segment.max) {
                runs[i] += (int) from.source.index(Part.key(id, Part.COUNT, i), segment.max - segment.min + 1L);
            }
            length += runs[i];
        }
        int[] text = new int[length];
        int[] starts = starts(runs);
        for (int i = 0; i < runs.length; i++) {
            Arrays.fill(text, starts[i], starts[i] + runs[i], segments.get(i).characters[0]);
        }
        if (from.source.body() == Body.CODED) {
            readPieces(text, runs, from.source);
        } else {
            readGroups(text, runs, from.source);
        }
        String read = new String(text, 0, length);
        from.limits.takeText(read, offset);
        return read;
    }

    /** Reads the characters of all classes with several ones. Those of other classes are in {@code text} already. */
    private void readGroups(int[] text, int[] runs, Source source) {
        int[] places = new int[Long.SIZE];
        Segment[] classes = new Segment[Long.SIZE];
        int size = 0;
        long product = 1;
        int at = 0;
        for (int i = 0; i < runs.length; i++) {
            Segment segment = segments.get(i);
            int radix = segment.characters.length;
            for (int end = at + runs[i]; at < end && radix > 1; at++) {
                if (product * radix >= GROUP) {
                    readGroup(text, places, classes, size, product, source);
                    size = 0;
                    product = 1;
                }
                places[size] = at;
                classes[size++] = segment;
                product *= radix;
            }
            at += radix > 1 ? 0 : runs[i];
        }
        if (product > 1) {
            readGroup(text, places, classes, size, product, source);
        }
    }

    private void readGroup(int[] text, int[] places, Segment[] classes, int size, long product, Source source) {
        long value = source.index(Part.key(id, Part.VALUE), product);
        for (int i = size - 1; i >= 0; i--) {
            int radix = classes[i].characters.length;
            text[places[i]] = classes[i].characters[(int) (value % radix)];
            value /= radix;
        }
    }

    private void readPieces(int[] text, int[] runs, Source source) {
        int[] starts = starts(runs);
        for (int nth = 0; nth < pieces.size(); nth++) {
            Piece piece = pieces.get(nth);
            Segment segment = segments.get(piece.segment);
            int length = piece.length(runs[piece.segment]);
            long value = source.index(Part.key(id, Part.VALUE, nth), power(segment, length));
            int start = starts[piece.segment] + piece.after;
            for (int i = length - 1; i >= 0; i--) {
                text[start + i] = segment.characters[(int) (value % segment.characters.length)];
                value /= segment.characters.length;
            }
        }
    }

    /** Returns the most characters of a group of one class, or 0 if they take no bits. */
    private static int most(Segment segment) {
        int most = 0;
        while (segment.characters.length > 1 && power(segment, most + 1) < GROUP) {
            most++;
        }
        return most;
    }

    @Override
    long maxBits() {
        long bits = 0;
        long product = 1;
        for (Segment segment : segments) {
            bits += Part.indexBits(segment.max - segment.min + 1L);
            int most = most(segment);
            for (int left = most > 0 ? segment.max : 0; left > 0;) {
                if (product == 1 && left > most) {
                    // Whole groups of this class, so that a long segment takes no time.
                    long groups = (left - 1) / most;
                    bits += groups * Part.indexBits(power(segment, most));
                    left -= (int) groups * most;
                } else if (product * segment.characters.length >= GROUP) {
                    bits += Part.indexBits(product);
                    product = 1;
                } else {
                    product *= segment.characters.length;
                    left--;
                }
            }
        }
        return bits + Part.indexBits(product);
    }

    @Override
    void addLeaves(Leaves leaves) {
        for (int i = 0; i < segments.size(); i++) {
            leaves.index(Part.key(id, Part.COUNT, i), segments.get(i).max - segments.get(i).min + 1L);
        }
        List<Piece> all = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            int most = most(segment);
            for (int after = 0; most > 0 && after < segment.max; after += most) {
                int length = Math.min(most, segment.max - after);
                leaves.index(Part.key(id, Part.VALUE, all.size()), power(segment, length));
                all.add(new Piece(i, after, length));
            }
        }
        pieces = all;
    }
}
