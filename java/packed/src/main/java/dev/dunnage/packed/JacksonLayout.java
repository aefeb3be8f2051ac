package dev.dunnage.packed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.POJONode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A layout whose messages are trees of Jackson. It needs {@code com.fasterxml.jackson.core:jackson-databind}. */
public final class JacksonLayout {
    /** Below this, no message has an array or object; the layout rejects what is left there. */
    private static final int MAX_NESTING = 64;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final Layout layout;

    /**
     * Creates a layout of trees.
     *
     * @param layout the layout
     */
    public JacksonLayout(Layout layout) {
        this.layout = layout;
    }

    /**
     * Encodes a message as {@link Layout#encode} does.
     *
     * @param message the message
     * @return the bytes
     * @throws PackedException if the layout does not have the message
     */
    public byte[] encode(JsonNode message) {
        return layout.encode(value(message, 0));
    }

    /**
     * Decodes a message as {@link Layout#decode(byte[])} does.
     *
     * @param message the bytes
     * @return the message
     * @throws PackedException if the bytes are not a message of the layout
     */
    public JsonNode decode(byte[] message) {
        return tree(layout.decode(message));
    }

    /**
     * Decodes a message as {@link Layout#decode(byte[], Map)} does.
     *
     * @param message the bytes
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the message
     * @throws PackedException if the bytes are not a message of the layout
     */
    public JsonNode decode(byte[] message, Map<String, String> known) {
        return tree(layout.decode(message, known));
    }

    private static Object value(JsonNode node, int nesting) {
        if (node.isNull() || node.isMissingNode()) {
            return null;
        } else if (node.isTextual()) {
            return node.textValue();
        } else if (node.isNumber()) {
            return node.numberValue();
        } else if (node.isBoolean()) {
            return node.booleanValue();
        } else if (node.isArray() && nesting < MAX_NESTING) {
            List<Object> items = new ArrayList<>(node.size());
            node.forEach(item -> items.add(value(item, nesting + 1)));
            return items;
        } else if (node.isObject() && nesting < MAX_NESTING) {
            Map<String, Object> members = new LinkedHashMap<>();
            node.properties().forEach(member -> members.put(member.getKey(), value(member.getValue(), nesting + 1)));
            return members;
        } else if (node.isPojo()) {
            return ((POJONode) node).getPojo();
        }
        return node.isBinary() ? ((BinaryNode) node).binaryValue() : node;
    }

    private static JsonNode tree(Object value) {
        if (value == null) {
            return NODES.nullNode();
        } else if (value instanceof String) {
            return NODES.textNode((String) value);
        } else if (value instanceof Boolean) {
            return NODES.booleanNode((Boolean) value);
        } else if (value instanceof Long) {
            // As Jackson's parser does: trees are only equal if their numbers have one type.
            long number = (Long) value;
            return number == (int) number ? NODES.numberNode((int) number) : NODES.numberNode(number);
        } else if (value instanceof BigInteger) {
            return NODES.numberNode((BigInteger) value);
        } else if (value instanceof Double) {
            return NODES.numberNode((Double) value);
        } else if (value instanceof byte[]) {
            return NODES.binaryNode((byte[]) value);
        } else if (value instanceof List) {
            ArrayNode items = NODES.arrayNode();
            ((List<?>) value).forEach(item -> items.add(tree(item)));
            return items;
        }
        ObjectNode members = NODES.objectNode();
        ((Map<?, ?>) value).forEach((key, member) -> members.set((String) key, tree(member)));
        return members;
    }
}
