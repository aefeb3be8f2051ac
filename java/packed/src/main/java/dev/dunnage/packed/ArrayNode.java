package dev.dunnage.packed;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** An array. Its first elements may have nodes of their own; the others have the node {@code rest}, if there is one. */
final class ArrayNode extends Node {
    private final List<Node> items;
    private final Node rest;
    private final Bounds bounds;
    /** Whether coded bodies have each element as its distance from those before it. */
    private final boolean isSeries;

    ArrayNode(int id, List<Node> items, Node rest, Bounds bounds, boolean isSeries) {
        super(id);
        this.items = items;
        this.rest = rest;
        this.bounds = bounds;
        this.isSeries = isSeries;
    }

    /** Returns the node of an element, or null if there is no such element. */
    private Node node(long at) {
        return at < items.size() ? items.get((int) at) : rest;
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        int inside = Limits.inside(nesting, 0);
        if (!(value instanceof List)) {
            boolean isJavaArray = value != null && value.getClass().isArray();
            throw Values.wrongType(isJavaArray ? "a List" : "an array", value);
        }
        List<?> elements = (List<?>) value;
        if (!bounds.hold(elements.size())) {
            throw range("the array has " + elements.size() + " elements; " + bounds.flaw(elements.size()));
        }
        bounds.write(Part.key(id, Part.COUNT), elements.size(), to.sink);
        for (int i = 0; i < elements.size(); i++) {
            try {
                if (node(i) == null) {
                    throw range("there is no element " + i);
                }
                to.sink.enter(i);
                to.value(node(i), elements.get(i), inside);
                to.sink.leave();
            } catch (PackedException e) {
                throw e.under(i);
            }
        }
    }

    @Override
    Object read(Reading from, int nesting) {
        int offset = from.source.offset();
        int inside = Limits.inside(nesting, offset);
        long count = bounds.read(Part.key(id, Part.COUNT), from.source);
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (node(i) == null) {
                throw new PackedException(Kind.RANGE, offset, "an array of " + count);
            }
            try {
                from.source.enter(i);
                elements.add(from.value(node(i), inside));
                from.source.leave();
            } catch (PackedException e) {
                throw e.under(i);
            }
        }
        return elements;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        if (!(value instanceof List)) {
            return false;
        }
        List<?> elements = (List<?>) value;
        boolean carried = bounds.hold(elements.size());
        for (int i = 0; carried && i < elements.size(); i++) {
            carried = node(i) != null && node(i).carries(elements.get(i), limits);
        }
        return carried;
    }

    @Override
    Object cut(Object value, int keep, String path, Cut cut) {
        if (!(value instanceof List)) {
            return value;
        }
        List<?> elements = (List<?>) value;
        long most = isSeries && keep >= 0 ? Math.max(keep, bounds.min) : elements.size();
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < elements.size() && i < most; i++) {
            kept.add(node(i) == null ? elements.get(i) : node(i).cut(elements.get(i), -1, place(path, i), cut));
        }
        return kept;
    }

    private String place(String path, int at) {
        return path + (items.isEmpty() ? "[]" : "[" + at + "]");
    }

    @Override
    int readings(Object value) {
        return isSeries && value instanceof List ? ((List<?>) value).size() : 0;
    }

    @Override
    void absent(Object value, String path, Set<String> paths) {
        if (value instanceof List) {
            List<?> elements = (List<?>) value;
            for (int i = 0; i < elements.size(); i++) {
                if (node(i) != null) {
                    node(i).absent(elements.get(i), place(path, i), paths);
                }
            }
        }
    }

    @Override
    long maxBits() {
        long bits = bounds.maxBits();
        for (int i = 0; i < items.size() && i < bounds.max; i++) {
            bits = Bits.and(bits, items.get(i).maxBits());
        }
        long more = bounds.max == Bounds.OPEN ? Bounds.OPEN : Math.max(bounds.max - items.size(), 0);
        return rest == null ? bits : Bits.and(bits, Bits.times(rest.maxBits(), more));
    }

    @Override
    void addLeaves(Leaves leaves) {
        leaves.index(Part.key(id, Part.COUNT), bounds.count());
        items.forEach(item -> item.addLeaves(leaves));
        if (isSeries) {
            leaves.series(rest);
        } else if (rest != null) {
            rest.addLeaves(leaves);
        }
    }
}
