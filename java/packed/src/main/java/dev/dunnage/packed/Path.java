package dev.dunnage.packed;

import java.util.Arrays;

/** The indices of the elements around a part of a message, from the outside. */
final class Path {
    /** The array is never changed: a copy takes its place. */
    int[] indices = new int[0];

    void enter(int index) {
        indices = Arrays.copyOf(indices, indices.length + 1);
        indices[indices.length - 1] = index;
    }

    void leave() {
        indices = Arrays.copyOf(indices, indices.length - 1);
    }
}
