package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** Looks for the largest part of a message that fits. {@code spec/packed.md}, "Messages that fit". */
final class Fitting {
    /** The numbers of readings beyond the result of bisection that are also tried: it may miss one that fits because statistics make it cheap. */
    private static final int PROBES = 4;

    /** A part of the message, the paths of the properties that it lacks, and its bytes. */
    private static final class Part {
        final Object message;
        final Set<String> leftOut;
        final byte[] bytes;

        Part(Object message, Set<String> leftOut, byte[] bytes) {
            this.message = message;
            this.leftOut = leftOut;
            this.bytes = bytes;
        }
    }

    private final Node root;
    private final Object message;
    private final int limit;
    private final Function<Object, byte[]> write;
    /** The size of the smallest form so far. */
    private int smallest = Integer.MAX_VALUE;

    Fitting(Node root, Object message, int limit, Function<Object, byte[]> write) {
        this.root = root;
        this.message = message;
        this.limit = limit;
        this.write = write;
    }

    /** Returns as much of the message as fits. {@code ranks} are those of the properties that may be left out. */
    Fit fit(Collection<Integer> ranks) {
        Set<Integer> descending = new TreeSet<>(Comparator.reverseOrder());
        descending.add(Cut.NO_RANK);
        descending.addAll(ranks);
        for (int rank : descending) {
            Part part = mostReadings(rank);
            if (part != null) {
                return new Fit(part.bytes, root.readings(part.message), List.copyOf(part.leftOut));
            }
        }
        throw new PackedException(Kind.LIMIT, 0, "the smallest form of the message has " + smallest + " bytes, and " + limit + " are available");
    }

    /** Returns the message with the most readings that fits without the properties of {@code rank} and above, or null. */
    private Part mostReadings(int rank) {
        int all = root.readings(message);
        Part whole = part(all, rank);
        if (whole != null || all < 2) {
            return whole;
        }
        Part best = part(1, rank);
        if (best == null) {
            return null;
        }
        int fits = 1;
        int tooMany = all;
        while (tooMany - fits > 1) {
            int middle = (fits + tooMany) / 2;
            Part part = part(middle, rank);
            if (part == null) {
                tooMany = middle;
            } else {
                best = part;
                fits = middle;
            }
        }
        for (int next = fits + 2; next < Math.min(all, fits + 2 + PROBES); next++) {
            Part part = part(next, rank);
            if (part != null) {
                best = part;
                fits = next;
            }
        }
        return best;
    }

    /** Returns the message with so many readings and without the properties of {@code rank} and above, if it fits, or null. */
    private Part part(int readings, int rank) {
        Cut cut = new Cut(rank);
        Object part = root.cut(message, readings, "", cut);
        byte[] bytes = write.apply(part);
        smallest = Math.min(smallest, bytes.length);
        return bytes.length <= limit ? new Part(part, cut.paths, bytes) : null;
    }

    /** Returns the paths of the properties that may be left out and are absent, each once. */
    static List<String> absent(Node root, Object message) {
        Set<String> paths = new LinkedHashSet<>();
        root.absent(message, "", paths);
        return new ArrayList<>(paths);
    }
}
