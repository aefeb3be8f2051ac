package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * A message of bench/corpus/smart-grid.
 *
 * @param name the folder's name
 * @param document the message as JSON
 * @param schema its JSON Schema
 */
record StandardMessage(String name, JsonNode document, JsonNode schema) {
    static final ObjectMapper JSON = new ObjectMapper();

    /** The message with this name. */
    static StandardMessage of(String name) {
        return new StandardMessage(name, read(name, "document"), read(name, "schema"));
    }

    private static JsonNode read(String name, String file) {
        String path = "/smart-grid/%s/%s.json".formatted(name, file);
        try (InputStream stream = StandardMessage.class.getResourceAsStream(path)) {
            return JSON.readTree(stream);
        } catch (IOException e) {
            throw new UncheckedIOException(path + ": " + e.getMessage(), e);
        }
    }

    /** The schema that a subschema refers to, or the subschema itself. */
    JsonNode resolve(JsonNode subschema) {
        JsonNode reference = subschema.get("$ref");
        return reference == null ? subschema : schema.at(reference.asText().substring(1));
    }
}
