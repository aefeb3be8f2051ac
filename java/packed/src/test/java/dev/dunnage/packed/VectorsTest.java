package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The vectors of the specification for exported layouts: {@code spec/vectors/packed/exported.json}. */
class VectorsTest {
    private static List<Map<?, ?>> vectors(String member) throws Exception {
        Map<?, ?> file = (Map<?, ?>) Json.parse(Files.readString(Path.of("../../spec/vectors/packed/exported.json")));
        List<Map<?, ?>> all = new ArrayList<>();
        for (Object vector : (List<?>) file.get("vectors")) {
            if (((Map<?, ?>) vector).containsKey(member)) {
                all.add((Map<?, ?>) vector);
            }
        }
        return all;
    }

    private static Layout layout(Map<?, ?> vector) {
        StringBuilder text = new StringBuilder();
        Json.write(vector.get("exported"), text);
        return Layout.parse(text.toString());
    }

    /** Returns a value in the notation of spec/vectors/README.md. */
    static Object value(Object json) {
        if (!(json instanceof Map)) {
            return json;
        }
        Map.Entry<?, ?> only = ((Map<?, ?>) json).entrySet().iterator().next();
        switch ((String) only.getKey()) {
            case "int":
                return new BigInteger((String) only.getValue());
            case "float":
                return Double.valueOf(((String) only.getValue()).replace("inf", "Infinity").replace("nan", "NaN"));
            case "bytes":
                return Words.bytes((String) only.getValue());
            case "array":
                return ((List<?>) only.getValue()).stream().map(VectorsTest::value).collect(Collectors.toList());
            default:
                Map<Object, Object> members = new LinkedHashMap<>();
                ((List<?>) only.getValue()).forEach(pair -> members.put(((List<?>) pair).get(0), value(((List<?>) pair).get(1))));
                return members;
        }
    }

    /** Returns a value as text, which has the order of members and the bytes. */
    static String words(Object value) {
        StringBuilder words = new StringBuilder();
        Words.write(Values.of(value), words);
        return words.toString();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> known(Map<?, ?> vector) {
        return vector.containsKey("known") ? (Map<String, String>) vector.get("known") : Map.of();
    }

    @Test
    void messagesAreDecodedAndEncodedToTheSameBytes() throws Exception {
        int modelled = 0;
        for (Map<?, ?> vector : vectors("hex")) {
            if (vector.containsKey("value")) {
                byte[] bytes = Words.bytes((String) vector.get("hex"));
                Object value = value(vector.get("value"));
                String name = (String) vector.get("name");
                assertEquals(words(value), words(layout(vector).decode(bytes, known(vector))), name);
                assertEquals(vector.get("hex"), Words.hex(layout(vector).encode(value)), name);
                modelled += vector.containsKey("modelled") ? 1 : 0;
            }
        }
        assertTrue(modelled >= 15, modelled + " modelled ones");
    }

    @Test
    void prefixesOfModelledMessagesAreTruncatedAndMoreBytesMalformed() throws Exception {
        for (Map<?, ?> vector : vectors("modelled")) {
            String hex = (String) vector.get("hex");
            for (int end = 0; end < hex.length(); end += 2) {
                byte[] prefix = Words.bytes(hex.substring(0, end));
                PackedException error = assertThrows(PackedException.class, () -> layout(vector).decode(prefix));
                assertEquals("truncated " + prefix.length, error.kind() + " " + error.offset(), (String) vector.get("name"));
            }
            PackedException error = assertThrows(PackedException.class, () -> layout(vector).decode(Words.bytes(hex + "00")));
            assertEquals("malformed " + hex.length() / 2, error.kind() + " " + error.offset(), (String) vector.get("name"));
        }
    }

    @Test
    void invalidMessagesAreErrors() throws Exception {
        List<Map<?, ?>> invalid = vectors("offset");
        assertTrue(invalid.size() > 50);
        for (Map<?, ?> vector : invalid) {
            byte[] bytes = Words.bytes((String) vector.get("hex"));
            PackedException error = assertThrows(PackedException.class, () -> layout(vector).decode(bytes, known(vector)));
            assertEquals(vector.get("kind") + " " + vector.get("offset"), error.kind() + " " + error.offset(), (String) vector.get("name"));
        }
    }

    @Test
    void valuesThatTheLayoutDoesNotHaveAreErrors() throws Exception {
        List<Map<?, ?>> refused = vectors("pointer");
        assertTrue(refused.size() > 10);
        for (Map<?, ?> vector : refused) {
            PackedException error = assertThrows(PackedException.class, () -> layout(vector).encode(value(vector.get("value"))));
            assertEquals(vector.get("kind") + " " + vector.get("pointer"), error.kind() + " " + error.pointer(), (String) vector.get("name"));
        }
    }
}
