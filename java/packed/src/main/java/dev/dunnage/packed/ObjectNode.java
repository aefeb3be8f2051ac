package dev.dunnage.packed;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An object with its properties in the order of the schema. */
final class ObjectNode extends Node {
    /** A property: a bit says whether it is present, if it is not required. */
    static final class Property {
        final String name;
        final boolean required;
        final Node node;

        Property(String name, boolean required, Node node) {
            this.name = name;
            this.required = required;
            this.node = node;
        }
    }

    private final List<Property> properties;
    private final Map<String, Property> byName = new LinkedHashMap<>();
    private final int required;

    ObjectNode(int id, List<Property> properties) {
        super(id);
        this.properties = properties;
        int required = 0;
        for (Property property : properties) {
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
        int written = 0;
        for (Property property : properties) {
            boolean present = members.containsKey(property.name);
            if (!property.required) {
                to.sink.index(Part.key(property.node.id, Part.PRESENCE), present ? 1 : 0, 2);
            } else if (!present) {
                throw range("the field " + Describe.quoted(property.name) + " is missing");
            }
            if (present) {
                written++;
                to.limits.takeText(property.name, 0);
                try {
                    to.value(property.node, members.get(property.name), inside);
                } catch (PackedException e) {
                    throw e.under(property.name);
                }
            }
        }
        if (written < members.size()) {
            rejectUnknown(members);
        }
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
            try {
                members.put(property.name, from.value(property.node, inside));
            } catch (PackedException e) {
                throw e.under(property.name);
            }
        }
        return members;
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
            if (property == null || !property.node.carries(member.getValue(), limits)) {
                return false;
            }
            found += property.required ? 1 : 0;
        }
        return found == required;
    }

    @Override
    long maxBits() {
        long bits = 0;
        for (Property property : properties) {
            bits = Bits.and(bits, property.node.maxBits() + (property.required ? 0 : 1));
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
