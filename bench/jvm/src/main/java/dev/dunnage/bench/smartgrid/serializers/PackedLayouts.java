package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.dunnage.bench.iec61850.LogicalNodes;
import dev.dunnage.packed.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The layouts of the logical nodes. The build writes them, with the program {@code dunnage}. */
public final class PackedLayouts {
    private static final String FOLDER = "smart-grid-layouts/";
    /** The class of the payload `random doubles`, which only its own package sees. */
    private static final String DOUBLES = "dev.dunnage.bench.smartgrid.Doubles";
    private static final ObjectMapper JSON = new ObjectMapper();

    private PackedLayouts() {}

    /** Writes the layouts. Arguments: the program {@code dunnage}, and the folder of the classes. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]).resolve(FOLDER);
        Files.createDirectories(folder);
        List<Class<?>> types = new ArrayList<>(LogicalNodes.ALL);
        types.add(Class.forName(DOUBLES));
        Path schema = Files.createTempFile("packed", ".schema.json");
        for (Class<?> type : types) {
            Files.writeString(schema, PackedSchemas.of(type).toString());
            Files.writeString(folder.resolve(type.getSimpleName() + ".json"), exported(arguments[0], schema, type));
        }
        Files.delete(schema);
    }

    /** The members of an exported layout that a library needs; the others describe it to people. */
    private static String exported(String program, Path schema, Class<?> type) throws Exception {
        // The program warns that it generates no code for such layouts.
        Process process = new ProcessBuilder(program, "schema", "layout", schema.toString(), "--json")
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        JsonNode layout = JSON.readTree(process.getInputStream());
        if (process.waitFor() != 0 || !layout.isObject()) {
            throw new IOException(type.getSimpleName() + ": `" + program + " schema layout` failed");
        }
        return ((ObjectNode) layout).retain("packed", "layout", "rounded").toString();
    }

    /** The layout of a class. */
    static Layout of(Class<?> type) {
        String name = FOLDER + type.getSimpleName() + ".json";
        try (InputStream file = PackedLayouts.class.getResourceAsStream("/" + name)) {
            return Layout.parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(name + ": " + e.getMessage(), e);
        }
    }
}
