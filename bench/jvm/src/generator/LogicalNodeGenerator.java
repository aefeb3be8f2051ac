import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.lang.model.SourceVersion;

/**
 * Writes a Java class for each logical node, common data class, constructed type and enumeration of IEC 61850.
 *
 * <p>Arguments: the table of names and types (bench/corpus/iec61850.json), and the folder of the sources. The build runs this file with
 * {@code java}, so that it needs no module of its own.
 */
public final class LogicalNodeGenerator {
    private static final String PACKAGE = "dev.dunnage.bench.iec61850";

    /** Bit strings are numbers, octet strings are hexadecimal text: each library then has one way to write them. */
    private static final Map<String, String> BASIC = Map.ofEntries(
            Map.entry("BOOLEAN", "Boolean"),
            Map.entry("INT8", "Integer"), Map.entry("INT16", "Integer"), Map.entry("INT32", "Integer"), Map.entry("INT64", "Long"),
            Map.entry("INT8U", "Integer"), Map.entry("INT16U", "Integer"), Map.entry("INT32U", "Long"),
            Map.entry("FLOAT32", "Float"),
            Map.entry("Timestamp", "java.util.Date"), Map.entry("EntryTime", "java.util.Date"),
            Map.entry("Quality", "Integer"), Map.entry("TrgOps", "Integer"), Map.entry("OptFlds", "Integer"),
            Map.entry("SvOptFlds", "Integer"), Map.entry("Check", "Integer"), Map.entry("Tcmd", "Integer"),
            Map.entry("Dbpos", "Integer"));

    private final JsonNode table;
    private final Path folder;
    /** The name of each common data class whose value has an enumerated type that the data object chooses. */
    private final Map<String, String[]> enumerated = new TreeMap<>();

    private LogicalNodeGenerator(JsonNode table, Path folder) {
        this.table = table;
        this.folder = folder;
    }

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[1]).resolve(PACKAGE.replace('.', '/'));
        Files.createDirectories(folder);
        new LogicalNodeGenerator(new ObjectMapper().readTree(Path.of(arguments[0]).toFile()), folder).run();
    }

    private void run() throws IOException {
        Map<String, JsonNode> nodes = logicalNodes();
        for (var node : nodes.entrySet()) {
            writeClass(node.getKey(), dataObjects(node.getValue()));
        }
        for (var type : fields(table.get("cdc"))) {
            writeClass(type.getKey(), attributes(type.getValue(), "Integer"));
        }
        for (var type : enumerated.entrySet()) {
            writeClass(type.getKey(), attributes(table.get("cdc").get(type.getValue()[0]), type.getValue()[1]));
        }
        for (var type : fields(table.get("constructed"))) {
            writeClass(type.getKey(), members(type.getValue()));
        }
        for (var type : fields(table.get("enum"))) {
            writeEnumeration(type.getKey(), type.getValue());
        }
        writeList(nodes.keySet());
        writePackage();
    }

    /** The classes of both parts by name. Part 7-420 repeats two classes of part 7-4 to extend them; those of part 7-4 are used. */
    private Map<String, JsonNode> logicalNodes() {
        Map<String, JsonNode> nodes = new TreeMap<>();
        for (String part : List.of("7-420", "7-4")) {
            fields(table.get("ln").get(part)).forEach(node -> nodes.put(node.getKey(), node.getValue()));
        }
        return nodes;
    }

    private List<String> dataObjects(JsonNode objects) {
        List<String> lines = new ArrayList<>();
        for (JsonNode object : objects) {
            String cdc = object.get(1).asText();
            if (!table.get("cdc").has(cdc)) {
                // Two objects of DCCT have the class SCR, which the parts in the table do not define.
                continue;
            }
            String presence = object.get(2).asText();
            // A data object that may repeat has the suffixes 1, 2, ...; one instance represents them.
            String name = object.get(0).asText() + (presence.endsWith("*") ? "1" : "");
            String type = object.has(3) ? enumeratedClass(cdc, object.get(3).asText()) : cdc;
            lines.add(field(name, type, cdc, presence.substring(0, 1), ""));
        }
        return lines;
    }

    private String enumeratedClass(String cdc, String type) {
        if (!List.of("ENS", "ENC", "ENG").contains(cdc) || !table.get("enum").has(type)) {
            return cdc;
        }
        enumerated.put(cdc + type, new String[] {cdc, type});
        return cdc + type;
    }

    private List<String> attributes(JsonNode attributes, String enumeration) {
        List<String> lines = new ArrayList<>();
        for (JsonNode attribute : attributes) {
            String declared = attribute.get(1).asText();
            String type = declared.equals("ENUM") ? enumeration : javaType(declared);
            if (attribute.has(4)) {
                type = "java.util.List<" + type + ">";
            }
            lines.add(field(attribute.get(0).asText(), type, declared, attribute.get(3).asText(), attribute.get(2).asText()));
        }
        return lines;
    }

    private List<String> members(JsonNode members) {
        boolean hasFloat = false;
        for (JsonNode member : members) {
            hasFloat |= member.get(0).asText().equals("f");
        }
        List<String> lines = new ArrayList<>();
        for (JsonNode member : members) {
            // An analogue value has the integer i, the fraction f, or both.
            boolean optional = hasFloat && member.get(0).asText().equals("i");
            String declared = member.get(1).asText();
            lines.add(field(member.get(0).asText(), javaType(declared), declared, optional ? "O" : "M", ""));
        }
        return lines;
    }

    private String javaType(String declared) {
        if (declared.startsWith("CDC:")) {
            return declared.substring(4);
        }
        boolean generated = table.get("constructed").has(declared) || table.get("enum").has(declared);
        return generated ? declared : BASIC.getOrDefault(declared, "String");
    }

    private static String field(String name, String type, String declared, String presence, String constraint) {
        return "    @Attribute(type = \"%s\", presence = '%s', constraint = \"%s\")%n    public %s %s;%n"
                .formatted(declared, presence, constraint, type, name);
    }

    private void writeClass(String name, List<String> fields) throws IOException {
        write(name, """
                import dev.dunnage.bench.smartgrid.Attribute;

                @jakarta.xml.bind.annotation.XmlRootElement(name = "%s")
                @org.msgpack.annotation.Message(org.msgpack.template.FieldOption.OPTIONAL)
                public class %s implements java.io.Serializable {
                    private static final long serialVersionUID = 1;

                %s}
                """.formatted(name, name, String.join("", fields)));
    }

    private void writeEnumeration(String name, JsonNode values) throws IOException {
        List<String> lines = new ArrayList<>();
        values.forEach(value -> lines.add("    " + constant(value.get(0).asText())));
        write(name, "@org.msgpack.annotation.OrdinalEnum\npublic enum %s {\n%s\n}\n".formatted(name, String.join(",\n", lines)));
    }

    /** The name of a value of an enumeration, as Java allows it. The unit and the multiplier without a name are those of ratios. */
    private static String constant(String name) {
        String ascii = name.replace('\u00b2', '2').replace('\u00b3', '3').replace('\u00b5', 'u');
        String constant = ascii.isEmpty() ? "one" : ascii.replaceAll("[^A-Za-z0-9]", "_");
        return SourceVersion.isName(constant) ? constant : "_" + constant;
    }

    private void writeList(Set<String> names) throws IOException {
        List<String> classes = names.stream().map(name -> "            " + name + ".class").toList();
        write("LogicalNodes", """
                import java.util.List;

                public final class LogicalNodes {
                    /** All classes of logical nodes, by name. */
                    public static final List<Class<?>> ALL = List.of(
                %s);

                    private LogicalNodes() {}
                }
                """.formatted(String.join(",\n", classes)));
    }

    private void writePackage() throws IOException {
        Files.writeString(folder.resolve("package-info.java"), """
                @XmlAccessorType(XmlAccessType.FIELD)
                @XmlJavaTypeAdapter(value = dev.dunnage.bench.smartgrid.DateAdapter.class, type = java.util.Date.class)
                package %s;

                import jakarta.xml.bind.annotation.XmlAccessType;
                import jakarta.xml.bind.annotation.XmlAccessorType;
                import jakarta.xml.bind.annotation.adapters.XmlJavaTypeAdapter;
                """.formatted(PACKAGE));
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name + ".java"), "package " + PACKAGE + ";\n\n" + text);
    }

    private static List<Map.Entry<String, JsonNode>> fields(JsonNode object) {
        return new ArrayList<>(object.properties());
    }
}
