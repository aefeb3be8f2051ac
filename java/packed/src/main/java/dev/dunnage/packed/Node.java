package dev.dunnage.packed;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** A part of the message: a node of the layout's tree. {@code spec/packed.md}, "Plain bodies". */
abstract class Node {
    /** The number of the node in preorder. */
    final int id;

    Node(int id) {
        this.id = id;
    }

    /** The state of writing one message. */
    static final class Writing {
        final Sink sink;
        final Limits limits = new Limits();

        Writing(Sink sink) {
            this.sink = sink;
        }

        /** Writes {@code value} as a value of {@code node}, inside {@code nesting} arrays and objects. */
        void value(Node node, Object value, int nesting) {
            limits.take(1, 0);
            node.write(value, this, nesting);
        }
    }

    /** The state of reading one message. */
    static final class Reading {
        final Source source;
        final Limits limits = new Limits();
        /** The texts that the receiver knows, by name. */
        final Map<String, String> known;

        Reading(Source source, Map<String, String> known) {
            this.source = source;
            this.known = known;
        }

        Object value(Node node, int nesting) {
            limits.take(1, source.offset());
            return node.read(this, nesting);
        }

        /** Reads a key of an object of the node with this number. It must be none of the {@code named} ones, and not yet in {@code members}. */
        String newKey(int node, Map<String, ?> named, Map<String, ?> members) {
            int offset = source.offset();
            String key = source.text(Part.key(node, Part.KEY), 0, Bounds.OPEN);
            limits.takeText(key, offset);
            if (named.containsKey(key) || members.containsKey(key)) {
                throw new PackedException(Kind.MALFORMED, offset, "a duplicate key").under(key);
            }
            return key;
        }
    }

    abstract void write(Object value, Writing to, int nesting);

    abstract Object read(Reading from, int nesting);

    /** Whether the node has bits for {@code value}: {@code spec/packed.md}, "Unions". {@code limits} has counted this step. */
    abstract boolean carriesThis(Object value, Limits limits);

    /** Returns the most bits of a value. */
    abstract long maxBits();

    /** Adds the parts that have statistics, in the order of the layout. */
    abstract void addLeaves(Leaves leaves);

    final boolean carries(Object value, Limits limits) {
        limits.step();
        return carriesThis(value, limits);
    }

    /** Returns the part of a value that {@code cut} leaves, with the first {@code keep} readings of its series; -1 inside of arrays, whose series stay. */
    Object cut(Object value, int keep, String path, Cut cut) {
        return value;
    }

    /** Returns the number of elements of the longest series that is not inside of an array. */
    int readings(Object value) {
        return 0;
    }

    /** Adds the paths of the properties that may be left out and are absent. */
    void absent(Object value, String path, Set<String> paths) {}

    /** Returns the nodes below this one that may have the same value. */
    List<Node> same() {
        return List.of();
    }

    /** Whether a value has the type of one of the listed values, in nodes that list them. */
    boolean lists(Object value) {
        return true;
    }

    static PackedException range(String reason) {
        return new PackedException(Kind.RANGE, 0, reason);
    }
}
