package dev.dunnage.pson;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The vectors of spec/vectors. Values are compared as words, which tell integers from floats and -0.0 from 0. */
class VectorsTest {
    private static final Path ROOT = Path.of("../../spec/vectors");
    private static final Pson STRICT = Pson.DEFAULT.withStrict(true);
    private static final Pson SINGLE = Pson.DEFAULT.withSinglePrecision(true);

    /** Returns the vectors of a folder, except those of reads with a type. */
    private static List<JsonNode> vectors(String folder) throws IOException {
        List<JsonNode> all = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(ROOT.resolve(folder), "*.json")) {
            for (Path file : files) {
                if (!file.endsWith("reads.json")) {
                    new ObjectMapper().readTree(file.toFile()).get("vectors").forEach(all::add);
                }
            }
        }
        return all;
    }

    private static byte[] message(JsonNode vector) {
        if (vector.has("hex")) {
            return Words.unhex(vector.get("hex").asText());
        }
        StringBuilder hex = new StringBuilder();
        vector.get("hex_parts").forEach(part -> hex.append(part.get(0).asText().repeat(part.get(1).asInt())));
        return Words.unhex(hex.toString());
    }

    /** Parses the typed notation of the vectors. */
    private static Object value(JsonNode notation) {
        if (!notation.isObject()) {
            return notation.isNull() ? null : notation.isBoolean() ? (Object) notation.asBoolean() : notation.asText();
        }
        Map.Entry<String, JsonNode> entry = notation.properties().iterator().next();
        JsonNode content = entry.getValue();
        switch (entry.getKey()) {
            case "int":
                BigInteger n = new BigInteger(content.asText());
                return n.bitLength() < 64 ? (Object) n.longValue() : n;
            case "float":
                String text = content.asText();
                return text.equals("nan") ? Double.NaN : Double.parseDouble(text.replace("inf", "Infinity"));
            case "bytes":
                return Words.unhex(content.asText());
            case "array":
                List<Object> list = new ArrayList<>();
                content.forEach(item -> list.add(value(item)));
                return list;
            case "map":
                Map<String, Object> map = new LinkedHashMap<>();
                content.forEach(item -> map.put(item.get(0).asText(), value(item.get(1))));
                return map;
            default:
                return content.get(0).asText().repeat(content.get(1).asInt());
        }
    }

    private static String words(Object value) {
        StringBuilder out = new StringBuilder();
        Words.describe(value, out);
        return out.toString();
    }

    private static void rejects(Pson pson, JsonNode vector, String kind, String offset) {
        String name = vector.get("name").asText();
        byte[] message = message(vector);
        PsonException e = assertThrows(PsonException.class, () -> pson.decode(message), name);
        assertEquals(vector.get(kind).asText() + " " + vector.get(offset), e.kind() + " " + e.offset(), name);
    }

    @Test
    void validMessagesAreDecodedAndEncoded() throws IOException {
        List<JsonNode> all = vectors("pson");
        assertTrue(all.size() > 250, String.valueOf(all.size()));
        for (JsonNode vector : all) {
            String name = vector.get("name").asText();
            byte[] message = message(vector);
            Object value = value(vector.get("value"));
            assertEquals(words(value), words(Pson.DEFAULT.decode(message)), name);
            byte[] canonical = vector.get("canonical").asBoolean() ? message : Words.unhex(vector.get("canonical_hex").asText());
            assertArrayEquals(canonical, Pson.DEFAULT.encode(value), name);
            byte[] single = vector.has("single_hex") ? Words.unhex(vector.get("single_hex").asText()) : canonical;
            assertArrayEquals(single, SINGLE.encode(value), name);
            if (vector.get("canonical").asBoolean()) {
                assertEquals(words(value), words(STRICT.decode(message)), name);
            } else {
                PsonException e = assertThrows(PsonException.class, () -> STRICT.decode(message), name);
                assertEquals("malformed " + vector.get("strict_offset"), e.kind() + " " + e.offset(), name);
            }
        }
    }

    @Test
    void invalidMessagesAreRejected() throws IOException {
        List<JsonNode> all = vectors("invalid");
        assertTrue(all.size() > 100, String.valueOf(all.size()));
        for (JsonNode vector : all) {
            rejects(Pson.DEFAULT, vector, "kind", "offset");
            boolean isOther = vector.has("strict_kind");
            rejects(STRICT, vector, isOther ? "strict_kind" : "kind", isOther ? "strict_offset" : "offset");
        }
    }

    @Test
    void anotherLibrarysMessagesAreTheSame() throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        JsonNode all = mapper.readTree(ROOT.resolve("interop.json").toFile()).get("vectors");
        assertEquals(300, all.size());
        for (JsonNode vector : all) {
            Object value = mapper.convertValue(sorted(vector.get("json")), Object.class);
            assertEquals(vector.get("hex").asText(), Words.hex(Pson.DEFAULT.encode(value)));
            assertEquals(words(value), words(STRICT.decode(message(vector))));
        }
    }

    /** Returns JSON with sorted keys. */
    private static JsonNode sorted(JsonNode json) throws IOException {
        ObjectMapper mapper = new ObjectMapper().configure(com.fasterxml.jackson.databind.SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true);
        return mapper.readTree(mapper.writeValueAsString(mapper.convertValue(json, Object.class)));
    }
}
