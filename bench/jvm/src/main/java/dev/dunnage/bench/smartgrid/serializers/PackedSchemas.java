package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.dunnage.bench.smartgrid.Attribute;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.util.Date;
import java.util.List;
import java.util.Map;

/**
 * The JSON Schema of a logical node: the bounds that IEC 61850 gives the types of its attributes. Mandatory fields are required. Where the suite's
 * payloads have more values than the type, the schema has those of the payloads.
 */
final class PackedSchemas {
    /** Bounds of the types that are whole numbers. Bit strings have as many bits as in the standard; TrgOps has eight, as in the payloads. */
    private static final Map<String, long[]> RANGES = Map.ofEntries(
            Map.entry("INT8", new long[] {Byte.MIN_VALUE, Byte.MAX_VALUE}),
            Map.entry("INT16", new long[] {Short.MIN_VALUE, Short.MAX_VALUE}),
            Map.entry("INT64", new long[] {Long.MIN_VALUE, Long.MAX_VALUE}),
            Map.entry("INT8U", new long[] {0, 255}),
            Map.entry("INT16U", new long[] {0, 65_535}),
            Map.entry("INT32U", new long[] {0, 4_294_967_295L}),
            Map.entry("Quality", new long[] {0, 8191}),
            Map.entry("TrgOps", new long[] {0, 255}),
            Map.entry("OptFlds", new long[] {0, 1023}),
            Map.entry("SvOptFlds", new long[] {0, 255}),
            Map.entry("Check", new long[] {0, 3}),
            Map.entry("Tcmd", new long[] {0, 3}),
            Map.entry("Dbpos", new long[] {0, 3}));

    /** The last second of a time of the standard has 32 bits. */
    private static final long[] MILLISECONDS = {0, 4_294_967_295_999L};

    /** The texts that have a pattern: octets as hexadecimal digits, and the three letters of ISO 4217. */
    private static final Map<String, String> PATTERNS =
            Map.of("Octet64", "^[0-9a-f]{0,128}$", "EntryID", "^[0-9a-f]{16}$", "Currency", "^[A-Z]{3}$");

    /** The longest texts of the other types. PhyComAddr is a structure in the standard, whose text has no bound there. */
    private static final Map<String, Integer> LENGTHS =
            Map.of("VisString64", 64, "VisString129", 129, "VisString255", 255, "Unicode255", 255, "ObjRef", 129);

    private final ObjectNode definitions = JsonNodeFactory.instance.objectNode();

    private PackedSchemas() {}

    /** The schema of a class of the generator, or of another class with public fields. */
    static ObjectNode of(Class<?> type) {
        PackedSchemas schemas = new PackedSchemas();
        ObjectNode schema = schemas.object(type);
        schema.set("$defs", schemas.definitions);
        return schema;
    }

    private ObjectNode object(Class<?> type) {
        ObjectNode schema = typed("object").put("additionalProperties", false);
        ObjectNode properties = schema.putObject("properties");
        ArrayNode required = schema.putArray("required");
        for (Field field : type.getFields()) {
            if (Modifier.isStatic(field.getModifiers())) {
                continue;
            }
            Attribute attribute = field.getAnnotation(Attribute.class);
            properties.set(field.getName(), field(field, attribute == null ? "" : attribute.type()));
            if (attribute == null || attribute.presence() == 'M') {
                required.add(field.getName());
            }
        }
        return schema;
    }

    private ObjectNode field(Field field, String declared) {
        if (field.getType() != List.class) {
            return value(field.getType(), declared);
        }
        Class<?> element = (Class<?>) ((ParameterizedType) field.getGenericType()).getActualTypeArguments()[0];
        ObjectNode array = typed("array");
        array.set("items", value(element, declared));
        return array;
    }

    private ObjectNode value(Class<?> type, String declared) {
        if (type == Boolean.class) {
            return typed("boolean");
        }
        if (type == Float.class || type == Double.class) {
            return typed("number");
        }
        if (type == Integer.class || type == Long.class) {
            // Enumerations without a type of their own, and all others, are numbers of 32 bits.
            return integer(RANGES.getOrDefault(declared, new long[] {Integer.MIN_VALUE, Integer.MAX_VALUE}));
        }
        if (type == Date.class) {
            return integer(MILLISECONDS);
        }
        if (type == String.class) {
            return text(declared);
        }
        return reference(type);
    }

    private static ObjectNode integer(long[] range) {
        return typed("integer").put("minimum", range[0]).put("maximum", range[1]);
    }

    private static ObjectNode text(String declared) {
        ObjectNode text = typed("string");
        if (PATTERNS.containsKey(declared)) {
            return text.put("pattern", PATTERNS.get(declared));
        }
        return LENGTHS.containsKey(declared) ? text.put("maxLength", LENGTHS.get(declared)) : text;
    }

    /** A reference to the definition of a generated class, which is written when it is first used. */
    private ObjectNode reference(Class<?> type) {
        String name = type.getSimpleName();
        if (!definitions.has(name)) {
            definitions.set(name, JsonNodeFactory.instance.nullNode());
            definitions.set(name, type.isEnum() ? enumeration(type) : object(type));
        }
        return JsonNodeFactory.instance.objectNode().put("$ref", "#/$defs/" + name);
    }

    private static ObjectNode enumeration(Class<?> type) {
        ObjectNode schema = JsonNodeFactory.instance.objectNode();
        ArrayNode names = schema.putArray("enum");
        for (Object constant : type.getEnumConstants()) {
            names.add(((Enum<?>) constant).name());
        }
        return schema;
    }

    private static ObjectNode typed(String type) {
        return JsonNodeFactory.instance.objectNode().put("type", type);
    }
}
