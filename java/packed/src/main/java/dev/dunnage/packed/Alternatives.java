package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The nodes that choose among other nodes. A value counts once, regardless of the nodes that choose. */
final class Alternatives {
    /** The number of the bit for null, apart from the bit for the presence of an optional property, which has the same node. */
    private static final int NULLABLE = 1;

    private Alternatives() {}

    /** Null, or a value of another node. */
    static final class Nullable extends Node {
        private final Node inner;

        Nullable(int id, Node inner) {
            super(id);
            this.inner = inner;
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            to.sink.index(Part.key(id, Part.PRESENCE, NULLABLE), value == null ? 0 : 1, 2);
            if (value != null) {
                inner.write(value, to, nesting);
            }
        }

        @Override
        Object read(Reading from, int nesting) {
            int offset = from.source.offset();
            if (from.source.index(Part.key(id, Part.PRESENCE, NULLABLE), 2) == 0) {
                return null;
            }
            Object value = inner.read(from, nesting);
            if (value == null) {
                throw new PackedException(Kind.MALFORMED, offset, "null as something else");
            }
            return value;
        }

        @Override
        List<Node> same() {
            return List.of(inner);
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            return value == null || inner.carries(value, limits);
        }

        @Override
        Object cut(Object value, int keep, String path, Cut cut) {
            return inner.cut(value, keep, path, cut);
        }

        @Override
        int readings(Object value) {
            return inner.readings(value);
        }

        @Override
        void absent(Object value, String path, Set<String> paths) {
            inner.absent(value, path, paths);
        }

        @Override
        long maxBits() {
            return Bits.and(1, inner.maxBits());
        }

        @Override
        void addLeaves(Leaves leaves) {
            leaves.index(Part.key(id, Part.PRESENCE, NULLABLE), 2);
            inner.addLeaves(leaves);
        }
    }

    /** A value of one of the nodes: the first that carries it. */
    static final class Union extends Node {
        private final List<Node> nodes;

        Union(int id, List<Node> nodes) {
            super(id);
            this.nodes = nodes;
        }

        /** Returns the index of the first of the first {@code end} nodes that carries the value, or -1. */
        private int first(int end, Object value, Limits limits) {
            for (int i = 0; i < end; i++) {
                if (nodes.get(i).carries(value, limits)) {
                    return i;
                }
            }
            return -1;
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            int at = first(nodes.size(), value, to.limits);
            if (at < 0) {
                throw fault(value, to, nesting);
            }
            to.sink.index(Part.key(id, Part.FORM), at, nodes.size());
            nodes.get(at).write(value, to, nesting);
        }

        /** Returns the fault of the only node for values of this type. Of several, and of arrays and objects, it is not known which is meant. */
        private PackedException fault(Object value, Writing to, int nesting) {
            List<PackedException> faults = new ArrayList<>();
            for (Node node : nodes) {
                if (node.lists(value) && !(value instanceof List || value instanceof Map)) {
                    try {
                        node.write(value, to, nesting);
                    } catch (PackedException e) {
                        faults.add(e);
                    }
                }
            }
            faults.removeIf(fault -> fault.kind() != Kind.RANGE);
            return faults.size() == 1 ? faults.get(0) : range(Describe.brief(value) + " is none of the " + nodes.size() + " kinds allowed");
        }

        @Override
        Object read(Reading from, int nesting) {
            int offset = from.source.offset();
            int at = (int) from.source.index(Part.key(id, Part.FORM), nodes.size());
            Object value = nodes.get(at).read(from, nesting);
            if (first(at, value, from.limits) >= 0) {
                throw new PackedException(Kind.MALFORMED, offset, "a value that an earlier type carries");
            }
            return value;
        }

        @Override
        List<Node> same() {
            return nodes;
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            return first(nodes.size(), value, limits) >= 0;
        }

        @Override
        long maxBits() {
            long most = 0;
            for (Node node : nodes) {
                most = Math.max(most, node.maxBits());
            }
            return Bits.and(Part.indexBits(nodes.size()), most);
        }

        @Override
        void addLeaves(Leaves leaves) {
            leaves.index(Part.key(id, Part.FORM), nodes.size());
            nodes.forEach(node -> node.addLeaves(leaves));
        }
    }
}
