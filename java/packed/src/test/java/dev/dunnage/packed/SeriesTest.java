package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages with series: {@code spec/vectors/packed/series.json}, and random ones. */
class SeriesTest {
    private static final int PLAIN = 0;

    static List<Map<?, ?>> vectors(boolean damaged, boolean deltas) throws Exception {
        Map<?, ?> file = (Map<?, ?>) Json.parse(Files.readString(Path.of("../../spec/vectors/packed/series.json")));
        List<Map<?, ?>> all = new ArrayList<>();
        for (Object one : (List<?>) file.get("vectors")) {
            Map<?, ?> vector = (Map<?, ?>) one;
            if (vector.containsKey("kind") == damaged && vector.containsKey("reference") == deltas) {
                all.add(vector);
            }
        }
        return all;
    }

    /** Returns the layout of a vector's schema. Its statistics have the fingerprint of its tree, so that the tree is the schema's, too. */
    static Layout layout(Map<?, ?> vector) {
        Map<?, ?> schema = (Map<?, ?>) vector.get("schema");
        String name = "series-" + ((String) schema.get("title")).toLowerCase();
        assertTrue(Exports.text(name + ".layout.json").contains("\"statistics\":\"" + schema.get("x-dunnage-statistics") + "\""), name);
        return Exports.layout(name);
    }

    private static String mode(byte[] message) {
        return "mode " + ((message[0] & 0xff) >> 6);
    }

    /** Cuts a message at each byte, and changes each bit: an error, or the one encoding of another message. */
    private static void survives(Layout layout, byte[] bytes) {
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            PackedException error = assertThrows(PackedException.class, () -> layout.decode(cut));
            assertEquals("truncated " + length, error.kind() + " " + error.offset());
        }
        for (int bit = 8; bit < 8 * bytes.length; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (0x80 >> bit % 8);
            Object other;
            try {
                other = layout.decode(damaged);
            } catch (PackedException e) {
                assertTrue(e.offset() >= 0 && e.offset() <= damaged.length, e.getMessage());
                continue;
            }
            byte[] again = layout.encode(other);
            // A writer has another mode for a message that is shorter in it.
            assertTrue(Arrays.equals(again, damaged) || !mode(again).equals(mode(damaged)), Words.hex(damaged));
        }
    }

    @Test
    void seriesHaveTheBytesOfTheVectors() throws Exception {
        List<Map<?, ?>> all = vectors(false, false);
        assertEquals(10, all.size());
        for (Map<?, ?> vector : all) {
            Layout layout = layout(vector);
            Object value = VectorsTest.value(vector.get("value"));
            byte[] plain = Words.bytes((String) vector.get("plain"));
            byte[] bytes = Words.bytes((String) vector.get("hex"));
            String name = (String) vector.get("name");
            assertEquals("mode 1", mode(bytes));
            assertArrayEquals(bytes, layout.encode(value), name);
            assertArrayEquals(plain, layout.reference(value).plain(), name);
            assertEquals(VectorsTest.words(value), VectorsTest.words(layout.decode(bytes)), name);
            assertEquals(VectorsTest.words(value), VectorsTest.words(layout.decode(plain)), name);
            survives(layout, bytes);
            survives(layout, plain);
        }
    }

    @Test
    void damagedSeriesAreTheErrorsOfTheVectors() throws Exception {
        List<Map<?, ?>> all = vectors(true, false);
        assertEquals(6, all.size());
        for (Map<?, ?> vector : all) {
            byte[] bytes = Words.bytes((String) vector.get("hex"));
            PackedException error = assertThrows(PackedException.class, () -> layout(vector).decode(bytes));
            assertEquals(vector.get("kind") + " " + vector.get("offset"), error.kind() + " " + error.offset(), (String) vector.get("name"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"readings", "numbers"})
    void randomSeriesRoundTripAndSurviveDamage(String name) {
        Layout layout = Exports.layout("series-" + name);
        Thing thing = new Thing(3);
        int prior = 0;
        for (int i = 0; i < 400; i++) {
            Object message = thing.message(name);
            byte[] bytes = layout.encode(message);
            assertEquals(VectorsTest.words(message), VectorsTest.words(layout.decode(bytes)));
            assertTrue(bytes.length <= layout.maxBytes());
            prior += (bytes[0] & 0xff) >> 6 == PLAIN ? 0 : 1;
            if (i % 8 == 0) {
                survives(layout, bytes);
            }
        }
        assertTrue(prior > 200 && prior < 400, prior + " in the prior form");
    }

    @Test
    void aSeriesIsPlainUpTo4096Bytes() {
        String numbers = "{\"array\":[0,%d]%s,\"item\":{\"number\":[\"0\",\"4294967295\",1],\"as\":\"integer\"}}";
        assertEquals(4095, Exports.ofNode(String.format(numbers, 1023, ",\"series\":true")).maxBytes());
        assertEquals(Limits.MAX_BYTES, Exports.ofNode(String.format(numbers, 1024, ",\"series\":true")).maxBytes());
        assertEquals(Limits.MAX_BYTES, Exports.ofNode(String.format(numbers, 1023, "")).maxBytes());
        for (String other : new String[] {"false", "1", "null"}) {
            assertThrows(LayoutException.class, () -> Exports.ofNode(String.format(numbers, 9, ",\"series\":" + other)));
        }
    }

    private static String trained(String canonical, int version, int... tables) {
        byte[] bytes = new byte[5 + tables.length];
        bytes[0] = (byte) version;
        System.arraycopy(Exports.sha256(canonical), 0, bytes, 1, 4);
        for (int i = 0; i < tables.length; i++) {
            bytes[5 + i] = (byte) tables[i];
        }
        String text = Base64.getEncoder().encodeToString(bytes);
        return Exports.of(canonical.replace("\"layout\"", "\"statistics\":\"" + text + "\",\"layout\""));
    }

    @Test
    void aPartThatStaysHasOneForm() {
        Layout layout = Layout.parse(trained("{\"packed\":1,\"layout\":{\"array\":[2,2],\"series\":true,\"item\":{\"text\":[0,9]}}}", 2, 0, 0));
        for (String second : new String[] {"aaaa", "aaab"}) {
            RangeWriter coder = new RangeWriter(0x41);
            coder.text(0, "aaaa", 0, 9);
            // Another text, it says.
            coder.bits(1, 1);
            coder.text(0, second, 0, 9);
            byte[] message = coder.finish();
            if (second.equals("aaab")) {
                assertEquals(List.of("aaaa", second), layout.decode(message));
            } else {
                // The slot byte, and 33 bits of the first text.
                assertEquals("malformed 5", malformed(layout, message));
            }
        }
    }

    private static String malformed(Layout layout, byte[] message) {
        PackedException error = assertThrows(PackedException.class, () -> layout.decode(message));
        return error.kind() + " " + error.offset();
    }

    @Test
    void statisticsOfASeriesHaveAVersionAndPredictors() {
        String canonical = "{\"packed\":1,\"layout\":{\"array\":[0,0],\"series\":true,\"item\":\"boolean\"}}";
        int[] tables = {0, 1, 16, 0, 1, 2, 0};
        for (int version = 0; version < 4; version++) {
            for (int predictor = -1; predictor < 3; predictor++) {
                int[] bytes = Arrays.copyOf(tables, tables.length + (predictor < 0 ? 0 : 1));
                bytes[bytes.length - 1] = predictor < 0 ? bytes[bytes.length - 1] : predictor;
                String export = trained(canonical, version, bytes);
                if (version == 2 && (predictor == 0 || predictor == 1)) {
                    assertEquals(List.of(), Layout.parse(export).decode(new byte[] {1}));
                } else {
                    assertThrows(LayoutException.class, () -> Layout.parse(export), version + " " + predictor);
                }
            }
        }
    }
}
