package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of layouts with open parts. VectorsTest and the driver in `conform` compare their bytes with those of crates/packed. */
class ModelledTest {
    /** An object with an open part of each kind. */
    private static final String OPEN = "{\"packed\":1,\"check\":1,\"layout\":{\"object\":[[\"text\",true,{\"text\":[0,null]}],"
        + "[\"time\",false,{\"text\":[0,null],\"time\":true}],[\"list\",false,{\"array\":[0,null],\"item\":{\"nullable\":\"float\"}}],"
        + "[\"tree\",false,{\"definition\":0}]],\"additional\":\"any\"},"
        + "\"definitions\":[{\"union\":[\"boolean\",{\"array\":[0,null],\"item\":{\"definition\":0}}]}]}";

    private static Layout any() {
        return Exports.ofNode("\"any\"");
    }

    private static String words(Object value) {
        StringBuilder words = new StringBuilder();
        Words.write(Values.of(value), words);
        return words.toString();
    }

    private static PackedException undecodable(Layout layout, byte[] bytes) {
        return assertTimeoutPreemptively(
            Duration.ofSeconds(10), () -> assertThrows(PackedException.class, () -> layout.decode(bytes)));
    }

    /** Returns a random value, nested up to {@code depth} deep. */
    private static Object random(Random random, int depth) {
        switch (random.nextInt(depth == 0 ? 8 : 10)) {
            case 0:
                return null;
            case 1:
                return random.nextBoolean();
            case 2:
                return random.nextLong() >> random.nextInt(64);
            case 3:
                return new BigInteger(64, random);
            case 4:
                return random.nextInt(200_000) / 1000.0;
            case 5:
                return Double.longBitsToDouble(random.nextLong() & 0xbfff_ffff_ffff_ffffL);
            case 6:
                return random.ints(random.nextInt(20), 0x20, 0x2fff).mapToObj(Character::toString).collect(Collectors.joining());
            case 7:
                byte[] bytes = new byte[random.nextInt(8)];
                random.nextBytes(bytes);
                return bytes;
            case 8:
                return IntStream.range(0, random.nextInt(5)).mapToObj(i -> random(random, depth - 1)).collect(Collectors.toList());
            default:
                Map<String, Object> members = new LinkedHashMap<>();
                for (int left = random.nextInt(5); left > 0; left--) {
                    members.put("key" + random.nextInt(40), random(random, depth - 1));
                }
                return members;
        }
    }

    @Test
    void anyValueIsRestoredInItsOrder() {
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            Object value = random(random, 4);
            byte[] bytes = any().encode(value);
            assertEquals(words(value), words(any().decode(bytes)));
            assertArrayEquals(bytes, any().encode(any().decode(bytes)));
        }
    }

    @Test
    void openPartsAreRestored() {
        Layout layout = Layout.parse(Exports.of(OPEN));
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("more", List.of(1L, "x"));
        message.put("tree", List.of(true, List.of(), List.of(List.of(false))));
        message.put("time", "2026-03-29T12:00:00Z");
        message.put("text", "the quick brown fox, 22 °C 😀");
        message.put("list", Arrays.asList(1.5, null, -0.0, 1e300, 0.1 + 0.2, 123456789012345.6));
        message.put("and more", Map.of());
        byte[] bytes = layout.encode(message);
        assertEquals(words(message), words(layout.decode(bytes)));
        assertEquals(List.copyOf(message.keySet()), List.copyOf(((Map<?, ?>) layout.decode(bytes)).keySet()));
        assertTrue(bytes.length < layout.maxBytes());
        assertEquals(Kind.MALFORMED, undecodable(layout, Arrays.copyOf(bytes, bytes.length + 1)).kind());
    }

    @Test
    void longMessagesDoubleTheTableAndModelsAreUsedAgain() {
        Layout layout = Exports.ofNode("{\"array\":[0,null],\"item\":{\"text\":[0,null]}}");
        List<String> lines = IntStream.range(0, 2000).mapToObj(i -> "line " + i * 7919 % 2003 + " of the log").collect(Collectors.toList());
        byte[] few = layout.encode(lines.subList(0, 3));
        byte[] many = layout.encode(lines);
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(few, layout.encode(lines.subList(0, 3)));
            assertEquals(lines, layout.decode(many));
            assertEquals(lines.subList(0, 3), layout.decode(few));
        }
    }

    @Test
    void threadsShareALayout() {
        Layout layout = any();
        Random random = new Random(2);
        List<Object> values = IntStream.range(0, 200).mapToObj(i -> random(random, 3)).collect(Collectors.toList());
        List<String> alone = values.stream().map(value -> Words.hex(layout.encode(value))).collect(Collectors.toList());
        List<String> together = values.parallelStream().map(value -> Words.hex(layout.encode(value))).collect(Collectors.toList());
        assertEquals(alone, together);
    }

    @Test
    void randomAndChangedBytesAreMessagesOrErrors() {
        Random random = new Random(3);
        Layout open = Layout.parse(Exports.of(OPEN.replace("\"check\":1,", "")));
        int decoded = 0;
        for (int i = 0; i < 3000; i++) {
            Layout layout = i % 2 == 0 ? open : any();
            byte[] bytes = new byte[random.nextInt(60) + 1];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                Object value = random(random, 4);
                bytes = layout.encode(layout == open ? Map.of("text", "x", "more", Collections.singletonList(value)) : value);
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            bytes[0] = 1;
            try {
                assertArrayEquals(bytes, layout.encode(layout.decode(bytes)));
                decoded++;
            } catch (PackedException e) {
                assertTrue(0 <= e.offset() && e.offset() <= bytes.length, e.getMessage());
            }
        }
        assertTrue(decoded > 10, decoded + " messages");
    }

    /** Bodies that announce very much: the writer of the numbers is that of the library, so that they take few bytes. */
    @ParameterizedTest
    @ValueSource(ints = {7, 8, 9})
    void aCountBeyondTheMessageIsAnErrorAtOnce(int form) {
        Model model = Model.primed();
        ModelledSink sink = new ModelledSink(model, new byte[] {1});
        sink.index(Part.key(0, Part.FORM), form, 10);
        sink.sized(Part.key(0, Part.COUNT), -1);
        byte[] bytes = sink.finish();
        Model.release(model);
        assertEquals(Kind.TRUNCATED, undecodable(any(), bytes).kind());
        byte[] zeros = Arrays.copyOf(bytes, 500);
        Kind kind = undecodable(any(), zeros).kind();
        assertTrue(kind != Kind.TYPE && kind != Kind.REFERENCE, kind.toString());
    }

    @Test
    void elementsWithoutBitsEndAtALimit() {
        Layout layout = Exports.ofNode("{\"array\":[0,null],\"item\":{\"constant\":0}}");
        assertEquals(1000, ((List<?>) layout.decode(layout.encode(Collections.nCopies(1000, 0)))).size());
        Model model = Model.primed();
        ModelledSink sink = new ModelledSink(model, new byte[] {1});
        sink.sized(Part.key(0, Part.COUNT), 1L << 40);
        byte[] bytes = sink.finish();
        Model.release(model);
        assertEquals(Kind.LIMIT, undecodable(layout, bytes).kind());
    }

    @Test
    void deepAndLongMessagesAreLimits() {
        Object deep = List.of();
        for (int i = 0; i < 31; i++) {
            deep = List.of(deep);
        }
        assertEquals(deep, any().decode(any().encode(deep)));
        Object deeper = List.of(deep);
        assertEquals(Kind.LIMIT, assertThrows(PackedException.class, () -> any().encode(deeper)).kind());
        // 2^23 decisions, of which a repeated text takes a few bytes: beyond those of a message of its size.
        Object repeated = Collections.nCopies(40_000, "a");
        assertEquals(Kind.LIMIT, assertThrows(PackedException.class, () -> any().encode(repeated)).kind());
    }

    @Test
    void aMessageAboveOneMebibyteIsALimit() {
        // Random bytes, which the model cannot predict. As text, each would take fewer bits.
        byte[] bytes = new byte[(1 << 20) - 64];
        new Random(4).nextBytes(bytes);
        PackedException error = assertTimeoutPreemptively(
            Duration.ofSeconds(60), () -> assertThrows(PackedException.class, () -> any().encode(bytes)));
        assertTrue(error.getMessage().matches("limit: a message of 10[0-9]{5} bytes"), error.getMessage());
    }

    @Test
    void treesOfJacksonHaveBytes() {
        JacksonLayout trees = new JacksonLayout(any());
        ObjectNode message = JsonNodeFactory.instance.objectNode();
        message.putArray("l").add(new byte[] {0, -1}).addNull().add(1.5).add("x");
        assertEquals(message, trees.decode(trees.encode(message)));
    }

    @Test
    void whatNoMessageHasIsAType() {
        PackedException error = assertThrows(PackedException.class, () -> any().encode(Map.of("at", List.of(Instant.EPOCH))));
        assertEquals(Kind.TYPE, error.kind());
        assertEquals("/at/0", error.pointer());
        assertEquals(Kind.RANGE, assertThrows(PackedException.class, () -> any().encode(Double.NaN)).kind());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"packed\":1,\"layout\":{\"definition\":0}}", "{\"packed\":1,\"layout\":{\"definition\":0},\"definitions\":[{\"definition\":0}]}",
        "{\"packed\":1,\"layout\":{\"definition\":1},\"definitions\":[\"any\"]}",
        "{\"packed\":1,\"layout\":\"any\",\"definitions\":[{\"definition\":1},{\"nullable\":{\"definition\":0}}]}",
        "{\"packed\":1,\"layout\":{\"text\":[0,20],\"time\":true}}", "{\"packed\":1,\"layout\":{\"text\":[0,null],\"time\":false}}",
        "{\"packed\":1,\"slot\":\"port\",\"layout\":\"any\"}", "{\"packed\":1,\"statistics\":\"AQAAAAA=\",\"layout\":\"any\"}",
        "{\"packed\":1,\"layout\":\"any\",\"definitions\":7}"
    })
    void aLayoutThatNoSchemaHasIsRejected(String canonical) {
        assertTimeoutPreemptively(
            Duration.ofSeconds(10), () -> assertThrows(LayoutException.class, () -> Layout.parse(Exports.of(canonical))));
    }

    @Test
    void aLongChainOfDefinitionsIsRejected() {
        List<String> chain = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            chain.add("{\"union\":[{\"definition\":" + (i + 1) + "},{\"definition\":" + (i + 1) + "}]}");
        }
        String canonical = "{\"packed\":1,\"layout\":\"any\",\"definitions\":[" + String.join(",", chain) + ",\"any\"]}";
        assertTimeoutPreemptively(
            Duration.ofSeconds(10), () -> assertThrows(LayoutException.class, () -> Layout.parse(Exports.of(canonical))));
    }
}
