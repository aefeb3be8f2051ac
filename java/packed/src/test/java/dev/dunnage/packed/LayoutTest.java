package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutTest {
    private static final Map<String, String> KNOWN = Map.of("device", "D7");

    private static PackedException rejected(Layout layout, Object message) {
        return assertThrows(PackedException.class, () -> layout.encode(message));
    }

    private static PackedException undecodable(Layout layout, String hex) {
        return assertThrows(PackedException.class, () -> layout.decode(Words.bytes(hex), KNOWN));
    }

    @ParameterizedTest
    @ValueSource(strings = {"weather", "container", "trained", "check", "port"})
    void messagesAreThoseOfTheProgram(String name) throws Exception {
        Layout layout = Exports.layout(name);
        JacksonLayout trees = new JacksonLayout(layout);
        ObjectMapper mapper = new ObjectMapper();
        for (Exports.Message message : Exports.messages(name)) {
            assertEquals(Json.parse(message.json), layout.decode(message.bytes, KNOWN));
            assertArrayEquals(message.bytes, layout.encode(Json.parse(message.json)));
            JsonNode tree = mapper.readTree(message.json);
            assertArrayEquals(message.bytes, trees.encode(tree));
            JsonNode decoded = trees.decode(message.bytes, KNOWN);
            String text = mapper.writeValueAsString(decoded);
            assertEquals(Json.parse(message.json), Json.parse(text));
            assertEquals(mapper.readTree(text), decoded);
            assertTrue(message.bytes.length <= layout.maxBytes());
            for (int length = 0; length < message.bytes.length; length++) {
                PackedException error = undecodable(layout, Words.hex(message.bytes).substring(0, 2 * length));
                assertEquals(Kind.TRUNCATED, error.kind());
                assertEquals(length, error.offset());
            }
        }
    }

    @Test
    void theReadmesExampleRuns() {
        Layout layout = Exports.layout("weather");
        byte[] message = layout.encode(Map.of(
            "station", "PISA01", "time", "2026-03-29T12:00:00Z", "temperature", 14.3, "humidity", 62, "pressure", 1016.8));
        assertEquals(15, message.length);
        assertEquals(
            "{station=PISA01, time=2026-03-29T12:00:00Z, temperature=14.3, humidity=62, pressure=1016.8}", layout.decode(message).toString());
    }

    @Test
    void layoutsTellTheirFacts() {
        Layout layout = Exports.layout("check");
        assertEquals(7, layout.slot());
        assertEquals("9284dc2ddb03a3b9157ca576846492c13970093979e56a6007853c508510d4a9", layout.fingerprint());
        assertEquals(90, layout.maxBytes());
        assertTrue(layout.hasSlotByte() && !Exports.layout("port").hasSlotByte());
    }

    @Test
    void aTrainedLayoutUsesTheShorterForm() {
        Layout layout = Exports.layout("trained");
        byte[] usual = Exports.messages("trained").get(0).bytes;
        assertEquals(1, usual[0] >> 6 & 3);
        byte[] unusual = layout.encode(Json.parse("{\"station\":\"ZZZZZZZZZZZZZZZZ\",\"time\":\"9999-12-31T23:59:59Z\",\"temperature\":-80,"
            + "\"humidity\":0,\"pressure\":500,\"wind\":{\"speed\":120,\"gust\":120,\"direction\":0},\"rain\":400,\"solar\":1600,\"battery\":15}"));
        assertEquals(0, unusual[0] >> 6 & 3);
        PackedException delta = undecodable(layout, "80aabb00");
        assertEquals(Kind.REFERENCE, delta.kind());
    }

    @Test
    void theCheckFindsDamage() {
        Layout layout = Exports.layout("check");
        byte[] bytes = Exports.messages("check").get(0).bytes;
        for (int bit = 8; bit < 8 * bytes.length; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (0x80 >> bit % 8);
            PackedException error = assertThrows(PackedException.class, () -> layout.decode(damaged, KNOWN));
            assertTrue(error.kind() == Kind.MALFORMED && error.offset() == bytes.length - 2 || error.kind() == Kind.TRUNCATED, error.getMessage());
        }
    }

    @Test
    void aTextThatIsNotKnownIsNamed() {
        byte[] bytes = Exports.messages("check").get(0).bytes;
        PackedException error = assertThrows(PackedException.class, () -> Exports.layout("check").decode(bytes));
        assertEquals(Kind.TYPE, error.kind());
        assertEquals("/device", error.pointer());
    }

    @Test
    void aReceiverHasATableOfLayouts() {
        Layouts layouts = Layouts.of(Exports.layout("weather"), Exports.layout("check"), Exports.layout("port"));
        Exports.Message weather = Exports.messages("weather").get(0);
        Exports.Message port = Exports.messages("port").get(0);
        assertEquals(Json.parse(weather.json), layouts.decode(weather.bytes, KNOWN));
        assertEquals(Json.parse(weather.json), layouts.decode(weather.bytes, 3, KNOWN));
        assertEquals(Json.parse(port.json), layouts.decode(port.bytes, 12, KNOWN));
        for (String[] bad : new String[][] {{"", "truncated"}, {"00", "malformed"}, {"0c4cf0", "range"}, {"02", "range"}, {"41", "malformed"},
        {"c1", "malformed"}}) {
            PackedException error = assertThrows(PackedException.class, () -> layouts.decode(Words.bytes(bad[0]), KNOWN));
            assertEquals(bad[1], error.kind().toString(), bad[0]);
            assertEquals(0, error.offset());
        }
        assertThrows(LayoutException.class, () -> Layouts.of(Exports.layout("weather"), Exports.layout("weather")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "{\"station\":\"A\"} | range | ''",
        "{\"station\":\"A\",\"device\":\"D7\",\"label\":\"1234567890123\"} | range | /label",
        "{\"station\":\"A\",\"device\":\"D7\",\"wind\":{\"speed\":120.1}} | range | /wind/speed",
        "{\"station\":\"A\",\"device\":\"D7\",\"wind\":{\"speed\":1.25}} | range | /wind/speed",
        "{\"station\":\"A\",\"device\":\"D7\",\"wind\":{}} | range | /wind",
        "{\"station\":\"A\",\"device\":\"D7\",\"wind\":[]} | type | /wind",
        "{\"station\":\"A\",\"device\":\"D7\",\"temperature\":\"1.5\"} | type | /temperature",
        "{\"station\":\"a\",\"device\":\"D7\"} | range | /station",
        "{\"station\":\"A\",\"device\":\"D7\",\"time\":\"2026-02-30T00:00:00Z\"} | range | /time",
        "{\"station\":\"A\",\"device\":\"D7\",\"a/b~\":1} | type | ''",
        "[] | type | ''",
    })
    void whatTheLayoutDoesNotHaveIsAnError(String json, String kind, String pointer) {
        PackedException error = rejected(Exports.layout("check"), Json.parse(json));
        assertEquals(kind, error.kind().toString(), error.getMessage());
        assertEquals(pointer.replace("'", ""), error.pointer());
    }

    @Test
    void numbersOfEveryKindAreTakenWhereTheyAreExact() {
        Layout decimal = Exports.ofNode("{\"number\":[\"-4000\",\"8500\",1],\"as\":{\"decimal\":2}}");
        byte[] bytes = decimal.encode(24.5);
        for (Object same : new Object[] {24.5f, new BigDecimal("24.50"), new BigDecimal("245E-1")}) {
            assertArrayEquals(bytes, decimal.encode(same));
        }
        assertArrayEquals(decimal.encode(24.56), decimal.encode(new BigDecimal("24.56")));
        assertEquals(24.56, decimal.decode(decimal.encode(24.56)));
        assertEquals(24L, decimal.decode(decimal.encode((short) 24)));
        for (Object wrong : new Object[] {24.56f, new BigDecimal("24.560000000000000001"), new BigDecimal("1e-999999999"), -0.0, Double.NaN, 1e300}) {
            assertEquals(Kind.RANGE, rejected(decimal, wrong).kind(), wrong.toString());
        }
        assertEquals(Kind.TYPE, rejected(decimal, "24.56").kind());
        assertEquals(Kind.TYPE, rejected(decimal, new java.util.concurrent.atomic.AtomicLong()).kind());
        Layout unsigned = Exports.ofNode("{\"number\":[\"-9223372036854775808\",\"18446744073709551615\",1],\"as\":\"integer\"}");
        BigInteger most = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
        assertEquals(most, unsigned.decode(unsigned.encode(most)));
        assertEquals(Long.MIN_VALUE, unsigned.decode(unsigned.encode(BigDecimal.valueOf(Long.MIN_VALUE))));
        assertEquals(Kind.RANGE, rejected(unsigned, most.add(BigInteger.ONE)).kind());
    }

    @Test
    void aDecimalThatNoFloatHasIsRange() {
        Layout layout = Exports.ofNode("{\"number\":[\"-9223372036854775808\",\"9223372036854775807\",1],\"as\":{\"decimal\":3}}");
        // Between 2^50 and 2^51 seconds, floats are a quarter apart.
        assertEquals(-1565891947065609.2, layout.decode(layout.encode(-1565891947065609.25)));
        BitWriter bits = new BitWriter(new byte[] {1});
        bits.index(0, 0, 2);
        bits.sized(0, 1565891947065609300L);
        PackedException error = assertThrows(PackedException.class, () -> layout.decode(bits.finish()));
        assertEquals(Kind.RANGE, error.kind());
    }

    @Test
    void aWriterRoundsWhereTheSchemaSaysSo() {
        Layout layout = Exports.layout("check");
        for (Object given : new Object[] {21.449999, 21.35, new BigDecimal("21.4123456789012345678901234567890"), 21.4}) {
            Map<?, ?> decoded = (Map<?, ?>) layout.decode(layout.encode(Map.of("station", "A", "device", "D7", "temperature", given)), KNOWN);
            assertEquals(21.4, decoded.get("temperature"), given.toString());
        }
        assertEquals("/temperature", rejected(layout, Map.of("station", "A", "device", "D7", "temperature", 85.05)).pointer());
    }

    @Test
    void messagesThatAreNoMessagesAreErrors() {
        Layout text = Exports.ofNode("{\"text\":[0,12]}");
        assertEquals(Kind.TYPE, rejected(text, "\ud800").kind());
        assertEquals(Kind.TYPE, rejected(text, new byte[1]).kind());
        List<Object> itself = new ArrayList<>();
        itself.add(itself);
        assertEquals(Kind.TYPE, rejected(text, itself).kind());
        Map<Object, Object> keys = new HashMap<>();
        keys.put(1, 2);
        assertEquals(Kind.TYPE, rejected(text, keys).kind());
        Object doubled = List.of();
        for (int i = 0; i < 60; i++) {
            doubled = List.of(doubled, doubled);
        }
        assertEquals(Kind.LIMIT, rejected(text, doubled).kind());
    }
}
