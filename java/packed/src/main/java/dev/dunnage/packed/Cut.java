package dev.dunnage.packed;

import java.util.LinkedHashSet;
import java.util.Set;

/** What is left out of a message: the properties of a rank and above. */
final class Cut {
    /** Nothing is left out: all ranks are below this one. */
    static final int NO_RANK = 256;

    private final int rank;
    /** The paths of the properties that were left out. */
    final Set<String> paths = new LinkedHashSet<>();

    Cut(int rank) {
        this.rank = rank;
    }

    /** Whether a property is left out; notes its path then. */
    boolean leavesOut(int drop, String path) {
        if (drop >= rank) {
            paths.add(path);
        }
        return drop >= rank;
    }
}
