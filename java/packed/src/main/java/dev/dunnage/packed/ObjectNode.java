package dev.dunnage.packed;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** An object with its properties in the order of the schema, then any others that it may have. */
final class ObjectNode extends Node {
    /** A property: a bit says whether it is present, if it is not required. */
    static final class Property {
        final String name;
        final boolean required;
        final Node node;
        /** Its rank among those that a writer leaves out; 0 if it never does. */
        final int drop;
        /** The place among the properties of the schema. */
        private int at;

        Property(String name, boolean required, Node node, int drop) {
            this.name = name;
            this.required = required;
            this.node = node;
            this.drop = drop;
        }
    }

    private final List<Property> properties;
    private final Map<String, Property> byName = new LinkedHashMap<>();
    private final int required;
    /** The node of other properties, or null if there are none. */
    private final Node additional;

    ObjectNode(int id, List<Property> properties, Node additional) {
        super(id);
        this.properties = properties;
        this.additional = additional;
        int required = 0;
        for (Property property : properties) {
            property.at = byName.size();
            byName.put(property.name, property);
            required += property.required ? 1 : 0;
        }
        this.required = required;
        if (byName.size() < properties.size()) {
            throw new LayoutException("duplicate property");
        }
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        int inside = Limits.inside(nesting, 0);
        if (!(value instanceof Map)) {
            throw Values.wrongType("an object", value);
        }
        Map<?, ?> members = (Map<?, ?>) value;
        boolean isModelled = to.sink.body() == Body.MODELLED;
        // The place of each property among those that are written, for the order of a modelled body.
        int[] places = new int[isModelled ? properties.size() : 0];
        int written = 0;
        for (Property property : properties) {
            boolean present = members.containsKey(property.name);
            if (!property.required) {
                to.sink.index(Part.key(property.node.id, Part.PRESENCE), present ? 1 : 0, 2);
            } else if (!present) {
                throw range("the field " + Describe.quoted(property.name) + " is missing");
            }
            if (present) {
                if (isModelled) {
                    places[property.at] = written;
                }
                written++;
                to.limits.takeText(property.name, 0);
                writeMember(property.node, property.name, members.get(property.name), to, inside);
            }
        }
        if (additional != null) {
            writeAdditional(members, written, to, inside);
        } else if (written < members.size()) {
            rejectUnknown(members);
        }
        if (isModelled) {
            PropertyOrder.write(id, order(members, places, written), to.sink);
        }
    }

    private static void writeMember(Node node, String key, Object value, Writing to, int nesting) {
        try {
            to.value(node, value, nesting);
        } catch (PackedException e) {
            throw e.under(key);
        }
    }

    private void writeAdditional(Map<?, ?> members, int written, Writing to, int nesting) {
        to.sink.sized(Part.key(id, Part.COUNT), members.size() - written);
        if (written == members.size()) {
            return;
        }
        for (Map.Entry<?, ?> member : members.entrySet()) {
            String key = (String) member.getKey();
            if (!byName.containsKey(key)) {
                to.limits.takeText(key, 0);
                to.sink.text(Part.key(id, Part.KEY), key, 0, Bounds.OPEN);
                writeMember(additional, key, member.getValue(), to, nesting);
            }
        }
    }

    /** Returns the place of each property of a message among those that were written: {@code places}, and the others behind them. */
    private int[] order(Map<?, ?> members, int[] places, int written) {
        int[] order = new int[members.size()];
        int others = written;
        int i = 0;
        for (Object key : members.keySet()) {
            Property property = byName.get(key);
            order[i++] = property == null ? others++ : places[property.at];
        }
        return order;
    }

    private void rejectUnknown(Map<?, ?> members) {
        for (Object key : members.keySet()) {
            if (!byName.containsKey(key)) {
                throw new PackedException(Kind.TYPE, 0, "there is no field " + Describe.quoted((String) key));
            }
        }
    }

    @Override
    Object read(Reading from, int nesting) {
        int inside = Limits.inside(nesting, from.source.offset());
        Map<String, Object> members = new LinkedHashMap<>();
        for (Property property : properties) {
            if (!property.required && from.source.index(Part.key(property.node.id, Part.PRESENCE), 2) == 0) {
                continue;
            }
            from.limits.takeText(property.name, from.source.offset());
            readMember(property.node, property.name, members, from, inside);
        }
        int named = members.size();
        if (additional != null) {
            readAdditional(members, from, inside);
        }
        int[] places = from.source.body() == Body.MODELLED ? PropertyOrder.read(id, members.size(), named, from.source) : null;
        return places == null ? members : ordered(members, places);
    }

    private static void readMember(Node node, String key, Map<String, Object> members, Reading from, int nesting) {
        try {
            members.put(key, from.value(node, nesting));
        } catch (PackedException e) {
            throw e.under(key);
        }
    }

    private void readAdditional(Map<String, Object> members, Reading from, int nesting) {
        long count = from.source.sized(Part.key(id, Part.COUNT));
        for (long i = 0; Long.compareUnsigned(i, count) < 0; i++) {
            readMember(additional, from.newKey(id, byName, members), members, from, nesting);
        }
    }

    private static Map<String, Object> ordered(Map<String, Object> members, int[] places) {
        String[] keys = members.keySet().toArray(new String[0]);
        Map<String, Object> ordered = new LinkedHashMap<>();
        Arrays.stream(places).forEach(place -> ordered.put(keys[place], members.get(keys[place])));
        return ordered;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        if (!(value instanceof Map)) {
            return false;
        }
        int found = 0;
        for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
            limits.charge(properties.size());
            Property property = byName.get(member.getKey());
            Node node = property == null ? additional : property.node;
            if (node == null || !node.carries(member.getValue(), limits)) {
                return false;
            }
            found += property != null && property.required ? 1 : 0;
        }
        return found == required;
    }

    @Override
    Object cut(Object value, int keep, String path, Cut cut) {
        if (!(value instanceof Map)) {
            return value;
        }
        Map<Object, Object> kept = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
            Property property = byName.get(member.getKey());
            if (property == null) {
                kept.put(member.getKey(), member.getValue());
            } else if (!cut.leavesOut(property.drop, place(path, property))) {
                kept.put(member.getKey(), property.node.cut(member.getValue(), keep, place(path, property), cut));
            }
        }
        return kept;
    }

    private static String place(String path, Property property) {
        return path.isEmpty() ? property.name : path + "." + property.name;
    }

    @Override
    int readings(Object value) {
        int most = 0;
        if (value instanceof Map) {
            for (Property property : properties) {
                most = Math.max(most, property.node.readings(((Map<?, ?>) value).get(property.name)));
            }
        }
        return most;
    }

    @Override
    void absent(Object value, String path, Set<String> paths) {
        if (!(value instanceof Map)) {
            return;
        }
        Map<?, ?> members = (Map<?, ?>) value;
        for (Property property : properties) {
            if (property.drop > 0 && !members.containsKey(property.name)) {
                paths.add(place(path, property));
            }
        }
        for (Property property : properties) {
            property.node.absent(members.get(property.name), place(path, property), paths);
        }
    }

    @Override
    long maxBits() {
        long bits = additional == null ? 0 : Bits.OPEN;
        for (Property property : properties) {
            bits = Bits.and(bits, Bits.and(property.node.maxBits(), property.required ? 0 : 1));
        }
        return bits;
    }

    @Override
    void addLeaves(Leaves leaves) {
        for (Property property : properties) {
            if (!property.required) {
                leaves.index(Part.key(property.node.id, Part.PRESENCE), 2);
            }
            property.node.addLeaves(leaves);
        }
    }
}
