package dev.dunnage.packed;

import java.util.List;

/** A value of a tree that refers to itself. */
final class DefinitionNode extends Node {
    private final int index;
    /** The trees of all definitions, which are read after this node. */
    private final List<Node> definitions;

    DefinitionNode(int id, int index, List<Node> definitions) {
        super(id);
        this.index = index;
        this.definitions = definitions;
    }

    /** Returns the tree, or null if there is none. */
    Node tree() {
        return index < definitions.size() ? definitions.get(index) : null;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        tree().write(value, to, nesting);
    }

    @Override
    Object read(Reading from, int nesting) {
        return tree().read(from, nesting);
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        return tree().carries(value, limits);
    }

    @Override
    List<Node> same() {
        return List.of(tree());
    }

    @Override
    long maxBits() {
        return Bits.OPEN;
    }

    @Override
    void addLeaves(Leaves leaves) {
        throw new IllegalStateException("a modelled layout has no statistics");
    }
}
