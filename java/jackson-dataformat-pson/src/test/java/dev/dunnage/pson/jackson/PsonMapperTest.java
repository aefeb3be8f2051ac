package dev.dunnage.pson.jackson;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamReadException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SequenceWriter;
import dev.dunnage.pson.Limits;
import dev.dunnage.pson.Pson;
import dev.dunnage.pson.PsonException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class PsonMapperTest {
    private static final PsonMapper MAPPER = new PsonMapper();
    private static final ObjectMapper JSON = new ObjectMapper();

    enum State { OFF, ON }

    record Reading(String sensor, long time, double[] data, State state, byte[] raw, BigDecimal price, Integer absent, Map<String, Boolean> flags) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({@JsonSubTypes.Type(value = Circle.class, name = "circle"), @JsonSubTypes.Type(value = Square.class, name = "square")})
    interface Shape {}

    record Circle(double radius) implements Shape {}

    record Square(int side) implements Shape {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public static class Bean {
        public int n;
        public String text;
        public List<Bean> children;
    }

    @Test
    void objectsComeBack() throws IOException {
        Reading reading = new Reading("gps", 1351824120, new double[] {48.75, 2.3}, State.ON, new byte[] {1, -1}, new BigDecimal("0.10"), null, Map.of("a", true));
        byte[] message = MAPPER.writeValueAsBytes(reading);
        Reading back = MAPPER.readValue(message, Reading.class);
        assertEquals("gps 1351824120 [48.75, 2.3] ON [1, -1] 0.1 null {a=true}", back.sensor + " " + back.time + " " + Arrays.toString(back.data) + " " + back.state + " "
            + Arrays.toString(back.raw) + " " + back.price + " " + back.absent + " " + back.flags);
        assertEquals("gps", MAPPER.readValue(new ByteArrayInputStream(message), Reading.class).sensor);
        Bean bean = new Bean();
        bean.children = List.of(new Bean(), new Bean());
        bean.children.get(1).text = "\u00e9\ud83d\ude00";
        assertEquals("\u00e9\ud83d\ude00", MAPPER.readValue(MAPPER.writeValueAsBytes(bean), Bean.class).children.get(1).text);
        List<Shape> shapes = List.of(new Circle(1.5), new Square(2));
        byte[] typed = MAPPER.writerFor(new TypeReference<List<Shape>>() {}).writeValueAsBytes(shapes);
        assertEquals(shapes, MAPPER.readValue(typed, new TypeReference<List<Shape>>() {}));
    }

    @Test
    void theBytesAreThoseOfPson() throws IOException {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("t", Arrays.asList(1, -1, 31, 1L << 40, 1.5, 0.1f, 0.1, true, null, "x".repeat(40), new byte[] {7}));
        document.put("\u00e9", Map.of());
        byte[] message = Pson.DEFAULT.encode(document);
        assertArrayEquals(message, MAPPER.writeValueAsBytes(document));
        assertEquals(String.valueOf(Pson.DEFAULT.decode(message)).replaceAll("\\[B@\\w+", ""), String.valueOf(MAPPER.readValue(message, Object.class)).replaceAll("\\[B@\\w+", ""));
    }

    @Test
    void documentsOfTheCorpusAreTheSameTrees() throws IOException {
        try (var files = Files.walk(Path.of("../../bench/corpus/real"))) {
            List<Path> all = files.filter(path -> path.endsWith("document.json")).toList();
            assertTrue(all.size() > 20);
            PsonMapper large = new PsonMapper(new PsonFactory(Pson.DEFAULT.withLimits(Limits.DEFAULT.withSize(1 << 26).withNesting(200))));
            for (Path file : all) {
                JsonNode tree = JSON.readTree(file.toFile());
                byte[] message = large.writeValueAsBytes(tree);
                // A whole float such as 1.0 is an integer in PSON.
                JsonNode back = large.readTree(message);
                assertTrue(tree.equals((a, b) -> a.isNumber() && b.isNumber() ? a.decimalValue().compareTo(b.decimalValue()) : a.equals(b) ? 0 : 1, back), file + "\n" + tree + "\n" + back);
                assertArrayEquals(message, large.writeValueAsBytes(back), file + "\n" + tree + "\n" + back);
            }
        }
    }

    @Test
    void numbersKeepTheirValues() throws IOException {
        for (Number n : new Number[] {0, -1, Integer.MAX_VALUE, Long.MIN_VALUE, new BigInteger("18446744073709551615"), 0.5, 1e300, -0.0, 0.1f}) {
            byte[] message = MAPPER.writeValueAsBytes(n);
            assertEquals(n.doubleValue(), MAPPER.readValue(message, double.class));
            assertEquals(n.doubleValue(), MAPPER.readTree(message).doubleValue());
        }
        assertEquals(Float.NaN, MAPPER.readValue(MAPPER.writeValueAsBytes(Double.NaN), float.class));
        assertEquals(new BigInteger("18446744073709551615"), MAPPER.readValue(MAPPER.writeValueAsBytes(new BigInteger("18446744073709551615")), BigInteger.class));
        assertEquals(new BigDecimal("1.03"), MAPPER.readValue(MAPPER.writeValueAsBytes(new BigDecimal("1.03")), BigDecimal.class));
        assertEquals(3, MAPPER.readValue(MAPPER.writeValueAsBytes(3.9), int.class));
        assertThrows(JsonProcessingException.class, () -> MAPPER.readValue(MAPPER.writeValueAsBytes(1L << 40), int.class));
        assertThrows(JsonProcessingException.class, () -> MAPPER.readValue(MAPPER.writeValueAsBytes(1e30), long.class));
        assertThrows(JsonProcessingException.class, () -> MAPPER.writeValueAsBytes(BigInteger.ONE.shiftLeft(64)));
        assertThrows(JsonProcessingException.class, () -> MAPPER.writeValueAsBytes(new BigDecimal("0.10000000000000000001")));
        assertEquals(5, new PsonMapper(new PsonFactory(Pson.DEFAULT.withSinglePrecision(true))).writeValueAsBytes(1.03).length);
    }

    private static void fails(byte[] message, String reason, long offset) {
        StreamReadException e = assertThrows(StreamReadException.class, () -> MAPPER.readTree(message));
        assertTrue(e.getMessage().startsWith(reason), e.getMessage());
        assertEquals(offset, e.getLocation().getByteOffset());
        assertInstanceOf(PsonException.class, e.getCause());
    }

    @Test
    void faultsHaveTheirKindAndOffset() {
        HexFormat hex = HexFormat.of();
        fails(hex.parseHex("c1"), "truncated", 1);
        fails(hex.parseHex("e1".repeat(40_000)), "limit", 32);
        fails(hex.parseHex("82ff80"), "malformed", 0);
        fails(hex.parseHex("e2017f"), "malformed", 2);
        fails(hex.parseHex("9f8080808010"), "truncated", 6);
        fails(hex.parseHex("0000"), "malformed", 1);
        fails(new byte[(1 << 20) + 1], "limit", 1 << 20);
        byte[] message = Pson.DEFAULT.encode(Map.of("a", List.of(1, 1.5, "text", new byte[3])));
        for (int end = 1; end < message.length; end++) {
            fails(Arrays.copyOf(message, end), "truncated", end);
        }
    }

    @Test
    void keysThatOccurTwiceAreFoundOnRequest() throws IOException {
        byte[] twice = HexFormat.of().parseHex("c2816100816101");
        assertEquals(1, MAPPER.readTree(twice).get("a").intValue());
        PsonMapper strict = PsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
        assertThrows(StreamReadException.class, () -> strict.readTree(twice));
    }

    @Test
    void valuesThatPsonDoesNotHaveAreRejectedWithTheirPath() {
        JsonMappingException e = assertThrows(JsonMappingException.class, () -> MAPPER.writeValueAsBytes(Map.of("a", List.of("\ud800"))));
        assertTrue(e.getMessage().contains("lone surrogate") && e.getPathReference().contains("[\"a\"]"), e.getMessage());
        Bean cyclic = new Bean();
        cyclic.children = List.of(cyclic);
        assertThrows(JsonMappingException.class, () -> MAPPER.writeValueAsBytes(cyclic));
        assertThrows(IOException.class, () -> MAPPER.writeValueAsBytes(new byte[(1 << 20) + 1]));
    }

    /** Memory that a large message needed is used for the next ones. */
    @Test
    void sizesMayDifferFromMessageToMessage() throws IOException {
        for (int size : new int[] {10, 100_000, 10, 900_000, 1, 20_000, 0}) {
            List<String> texts = Collections.nCopies(size / 10, "text \u00e9 " + size);
            byte[] message = Pson.DEFAULT.withLimits(Limits.DEFAULT.withSize(1 << 24)).encode(texts);
            if (message.length > 1 << 20) {
                assertThrows(IOException.class, () -> MAPPER.writeValueAsBytes(texts));
                continue;
            }
            assertArrayEquals(message, MAPPER.writeValueAsBytes(texts));
            assertArrayEquals(message, MAPPER.writer().writeValueAsBytes(texts));
            assertEquals(texts, MAPPER.readValue(message, List.class));
        }
    }

    @Test
    void messagesFollowEachOtherInAStream() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SequenceWriter writer = MAPPER.writer().writeValues(out)) {
            writer.write(Map.of("n", 1)).write(2).write(List.of());
        }
        assertEquals("c1816e0102e0", HexFormat.of().formatHex(out.toByteArray()));
        try (MappingIterator<JsonNode> values = MAPPER.readerFor(JsonNode.class).readValues(new ByteArrayInputStream(out.toByteArray()))) {
            assertEquals("[{\"n\":1}, 2, []]", values.readAll().toString());
        }
    }

    @Test
    void generatorsAndParsersBehaveAsThoseOfJson() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JsonGenerator generator = MAPPER.getFactory().createGenerator(out);
        generator.writeStartObject();
        assertThrows(IOException.class, () -> generator.writeNumber(1));
        generator.writeFieldName("a");
        assertThrows(IOException.class, () -> generator.writeFieldName("b"));
        assertThrows(UnsupportedOperationException.class, () -> generator.writeRaw("x"));
        generator.writeBinary(new ByteArrayInputStream(new byte[] {1, 2, 3}), 2);
        generator.writeArrayFieldStart("b");
        // Open arrays and objects are ended.
        generator.close();
        assertTrue(generator.isClosed());
        assertEquals("c28161a201028162e0", HexFormat.of().formatHex(out.toByteArray()));

        JsonParser parser = MAPPER.getFactory().createParser(out.toByteArray());
        StringBuilder tokens = new StringBuilder();
        while (parser.nextToken() != null) {
            tokens.append(parser.currentToken()).append(' ').append(parser.currentName()).append(' ').append(parser.currentTokenLocation().getByteOffset()).append("; ");
        }
        assertEquals("START_OBJECT null 0; FIELD_NAME a 1; VALUE_EMBEDDED_OBJECT a 3; FIELD_NAME b 6; START_ARRAY b 8; END_ARRAY b 8; END_OBJECT null 8; ", tokens.toString());
        assertTrue(parser.isClosed());
        InputStream in = new ByteArrayInputStream(out.toByteArray());
        try (JsonParser skipping = MAPPER.getFactory().createParser(in)) {
            skipping.nextToken();
            skipping.skipChildren();
            assertEquals("END_OBJECT", skipping.currentToken().name());
        }
        assertThrows(UnsupportedOperationException.class, () -> MAPPER.getFactory().createParser("text"));
        assertTrue(MAPPER.readTree(new byte[0]).isMissingNode());
    }

    @Test
    void jacksonFindsTheFormat() {
        assertTrue(ServiceLoader.load(JsonFactory.class).stream().anyMatch(one -> one.type() == PsonFactory.class));
        assertTrue(ServiceLoader.load(ObjectCodec.class).stream().anyMatch(one -> one.type() == PsonMapper.class));
        PsonMapper mapper = PsonMapper.builder().enable(SerializationFeature.WRITE_ENUMS_USING_INDEX).build();
        assertEquals("PSON", mapper.getFactory().getFormatName());
        assertFalse(mapper.copy() == mapper);
        assertInstanceOf(PsonFactory.class, mapper.copy().getFactory());
    }
}
