package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The texts of errors: the value, the expectation of the layout, and the place. */
class ReasonsTest {
    private static final String COUNT = "{\"number\":[\"0\",\"100\",1],\"as\":\"integer\"}";
    private static final String FIVES = "{\"number\":[\"0\",\"100\",5],\"as\":\"integer\"}";
    private static final String CELSIUS = "{\"number\":[\"-4000\",\"8500\",5],\"as\":{\"decimal\":2}}";
    private static final String QUANTUM = "{\"number\":[\"0\",\"65535\",1],\"as\":{\"decimal\":3},\"quantum\":[\"175000\",3,65535,\"-45000\"]}";
    private static final String TEXT = "{\"number\":[\"0\",\"900\",1],\"as\":{\"text\":[1,2]}}";
    private static final String TEXTS = "{\"numbers\":[\",\"," + TEXT + "," + TEXT + "]}";
    private static final String TIME = "{\"number\":[\"0\",\"4294967295\",1],\"as\":{\"time\":[\"YYYY-MM-DDThh:mm:ssZ\",\"0\"]}}";
    private static final String CHOICE = "{\"choice\":[\"D\",7,{\"a\":[1]}]}";
    private static final String CHOICES = "{\"choice\":[\"n/a\",\"off\"]}";
    private static final String PATTERN = "{\"pattern\":[[\"ABCDEF\",1,1],[\"-0123456789\",2,7],[\".\",3,3]]}";
    private static final String ARRAY = "{\"array\":[1,3],\"item\":\"boolean\"}";
    private static final String OBJECT = "{\"object\":[[\"l\",true,{\"array\":[0,3],\"item\":" + COUNT + "}]]}";

    private static void says(String node, Object value, String reason) {
        Layout layout = Exports.ofNode(node);
        assertEquals(reason, assertThrows(PackedException.class, () -> layout.encode(value)).getMessage());
    }

    @Test
    void numbersAreNamedWithTheirLimits() {
        says(COUNT, 104, "range: 104 is above the maximum 100");
        says(COUNT, -1, "range: -1 is below the minimum 0");
        says(COUNT, BigInteger.ONE.shiftLeft(70), "range: 1.1805916207174113E21 is not a whole number of 64 bits");
        says(COUNT, 1.5, "range: 1.5 is not a whole number");
        says(COUNT, -0.0, "range: -0.0 is not one of the numbers: its sign would be lost");
        says(COUNT, "hot", "type: \"hot\" is not an integer");
        says(COUNT, Map.of("a", 1), "type: an object of 1 is not an integer");
        says(FIVES, 7, "range: 7 is not a multiple of 5");
        says(CELSIUS, "hot", "type: \"hot\" is not a number");
        says(CELSIUS, 85.05, "range: 85.05 is above the maximum 85.00");
        says(CELSIUS, -40.05, "range: -40.05 is below the minimum -40.00");
        says(CELSIUS, 20.01, "range: 20.01 is not a multiple of 0.05");
        says(CELSIUS, 20.001, "range: 20.001 is not a multiple of 0.05");
        says(CELSIUS, Double.NaN, "range: NaN is not a finite number");
        says(CELSIUS, new BigDecimal("1e400"), "range: 1E+400 is not a multiple of 0.05, or not exact as a binary64");
        says(QUANTUM, 0.001, "range: 0.001 is not a multiple of 175 / 65535 from -45, rounded to 0.001");
        says(QUANTUM, 131.001, "range: 131.001 is above the maximum 130.000");
        says("\"float\"", Double.POSITIVE_INFINITY, "range: Infinity is not a finite number");
        says("\"float\"", (1L << 62) + 1, "range: 4611686018427387905 is not exact as a binary64");
    }

    @Test
    void textIsQuotedBesideWhatIsAllowed() {
        says(TEXT, "91.0", "range: \"91.0\" is above the maximum 90.0");
        says(TEXT, "-01.0", "range: \"-01.0\" is below the minimum 0.0");
        says(TEXT, 91, "type: 91 is not a string that holds a number");
        says(TEXT, "x", "range: \"x\" is not a number with 2 or more digits and 1 decimals");
        says(TEXTS, 1.5, "type: 1.5 is not a string that holds numbers");
        says(TEXTS, "01.5", "range: \"01.5\" holds 1 numbers, not 2");
        says(TEXTS, "01.5,02.5,03.5", "range: \"01.5,02.5,03.5\" holds 3 numbers, not 2");
        says(TIME, 1735689600, "type: 1735689600 is not a string that holds a time");
        says(TIME, "2026-02-30T00:00:00Z", "range: \"2026-02-30T00:00:00Z\" is not a time like \"1970-01-01T00:00:00Z\"");
        says(TIME, "1969-12-31T23:59:59Z", "range: \"1969-12-31T23:59:59Z\" is before the first time \"1970-01-01T00:00:00Z\"");
        says(TIME, "2200-01-01T00:00:00Z", "range: \"2200-01-01T00:00:00Z\" is after the last time \"2106-02-07T06:28:15Z\"");
        says("{\"text\":[2,4]}", "é".repeat(50), "range: \"" + "é".repeat(40) + "\"… has 50 characters; the maximum is 4");
        says("{\"text\":[2,4]}", 12, "type: 12 is not a string");
        says("{\"text\":[2,4]}", "\ud800x", "type: text with a lone surrogate");
        says("{\"text\":[2,4]}", "a", "range: \"a\" has 1 characters; the minimum is 2");
        says(PATTERN, "a", "range: \"a\" does not match ^[A-F][\\-0-9]{2,7}\\.{3}$");
    }

    @Test
    void otherValuesAreNamedBesideWhatIsAllowed() {
        says(CHOICE, "Z", "range: \"Z\" is none of \"D\", 7, {\"a\":[1]}");
        says("{\"choice\":[0,1,2,3,4,5,6,7,8]}", true, "range: true is none of 0, 1, 2, 3, 4, 5, 6, 7, …");
        says("{\"constant\":{\"v\":1}}", Map.of("v", 2), "range: an object of 1 is not {\"v\":1}");
        says("{\"union\":[" + COUNT + "," + CHOICES + "]}", 104, "range: 104 is above the maximum 100");
        says("{\"union\":[" + COUNT + "," + CHOICES + "]}", "x", "range: \"x\" is none of \"n/a\", \"off\"");
        says("{\"union\":[" + COUNT + ",{\"constant\":200}]}", 104, "range: 104 is none of the 2 kinds allowed");
        says("{\"union\":[" + COUNT + ",{\"text\":[0,3]}]}", true, "range: true is none of the 2 kinds allowed");
        says("{\"union\":[" + COUNT + "," + ARRAY + "]}", List.of(), "range: an array of 0 is none of the 2 kinds allowed");
        says(ARRAY, List.of(), "range: the array has 0 elements; the minimum is 1");
        says(ARRAY, Collections.nCopies(4, true), "range: the array has 4 elements; the maximum is 3");
        says(OBJECT, Map.of(), "range: the field \"l\" is missing");
        says(OBJECT, Map.of("l", List.of(), "c", 1), "type: there is no field \"c\"");
        says(OBJECT, Map.of("l", List.of(1, 101)), "range: 101 is above the maximum 100 at /l/1");
    }

    @Test
    void valuesThatAreNotOfJsonAreNamed() {
        String instant = "; pass text, such as toString() of an Instant, or the number that the schema wants";
        says(TIME, Instant.EPOCH, "type: java.time.Instant is not a string that holds a time" + instant);
        says(COUNT, new Date(0), "type: java.util.Date is not an integer" + instant);
        says(ARRAY, new Object[0], "type: java.lang.Object[] is not a List");
        says("\"boolean\"", new byte[1], "type: byte[] is not a boolean");
        says(ARRAY, 5, "type: 5 is not an array");
        says("\"boolean\"", Thread.State.NEW, "type: java.lang.Thread$State is not a boolean");
        says(
            OBJECT, Map.of("l", List.of(new AtomicLong())),
            "type: java.util.concurrent.atomic.AtomicLong is not a Long, Double or the like; pass its longValue() or doubleValue() at /l/0");
        says(OBJECT, Map.of("l", Map.of(1, 2)), "type: the key 1 is not a string at /l");
    }

    @Test
    void errorsOfEncodingHaveNoOffset() {
        Layout layout = Exports.ofNode(OBJECT);
        PackedException error = assertThrows(PackedException.class, () -> layout.encode(Map.of("l", List.of(1, 101))));
        assertEquals(-1, error.offset());
        assertEquals("/l/1", error.pointer());
        assertEquals(-1, assertThrows(PackedException.class, () -> layout.encode("\ud800")).offset());
    }

    @Test
    void errorsOfDecodingNameTheFieldAndTheByte() {
        Layout layout = Exports.ofNode(OBJECT);
        byte[] message = layout.encode(Map.of("l", List.of(1, 2)));
        undecodable(layout, Arrays.copyOf(message, 1), "truncated: the message ends before its layout does at /l at byte 1");
        undecodable(layout, Arrays.copyOf(message, 2), "truncated: the message ends before its layout does at /l/0 at byte 2");
        undecodable(layout, new byte[] {1, -1, -1}, "range: 127 is not below 101 at /l/0 at byte 1");
        undecodable(layout, new byte[] {2}, "range: slot 2; the layout's is 1 at byte 0");
        undecodable(layout, Arrays.copyOf(message, 5), "malformed: bytes behind the message: 2 at byte 3");
    }

    private static void undecodable(Layout layout, byte[] message, String reason) {
        assertEquals(reason, assertThrows(PackedException.class, () -> layout.decode(message)).getMessage());
    }

    @Test
    void errorsOfTreesNameTheField() {
        JacksonLayout trees = new JacksonLayout(Exports.ofNode(OBJECT));
        JsonNodeFactory nodes = JsonNodeFactory.instance;
        Map<JsonNode, String> elements = Map.of(
            nodes.numberNode(101), "range: 101 is above the maximum 100 at /l/0", nodes.textNode("x"), "type: \"x\" is not an integer at /l/0",
            nodes.missingNode(), "type: null is not an integer at /l/0", nodes.binaryNode(new byte[1]), "type: byte[] is not an integer at /l/0",
            nodes.pojoNode(Thread.State.NEW), "type: java.lang.Thread$State is not an integer at /l/0");
        elements.forEach((element, reason) -> {
            ObjectNode message = nodes.objectNode();
            message.putArray("l").add(element);
            assertEquals(reason, assertThrows(PackedException.class, () -> trees.encode(message)).getMessage());
        });
        assertEquals("range: the field \"l\" is missing", assertThrows(PackedException.class, () -> trees.encode(nodes.objectNode())).getMessage());
        PackedException error = assertThrows(PackedException.class, () -> trees.decode(new byte[] {1}));
        assertEquals("truncated: the message ends before its layout does at /l at byte 1", error.getMessage());
    }

    @Test
    void aSchemaInPlaceOfALayoutSaysWhatToRun() throws Exception {
        String schema = Files.readString(Path.of("../../spec/schemas/weather.json"));
        for (String other : new String[] {schema, "{}", "[]", "{\"packed\":1,\"layout\":2}"}) {
            String reason = assertThrows(LayoutException.class, () -> Layout.parse(other)).getMessage();
            assertEquals("not an exported layout: run `dunnage schema layout SCHEMA --json`", reason);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"weather", "container"})
    void treesAreDecodedWithoutKnownTextsToo(String name) {
        JacksonLayout trees = new JacksonLayout(Exports.layout(name));
        for (Exports.Message message : Exports.messages(name)) {
            assertEquals(trees.decode(message.bytes, Map.of()), trees.decode(message.bytes));
        }
    }
}
