package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exported layouts and messages that nobody should have written. */
class HostileTest {
    private static String rejected(String export) {
        return assertTimeoutPreemptively(
            Duration.ofSeconds(10), () -> assertThrows(LayoutException.class, () -> Layout.parse(export)).getMessage());
    }

    private static String rejectedNode(String node) {
        return rejected(Exports.of("{\"packed\":1,\"layout\":" + node + "}"));
    }

    @Test
    void aChangedLayoutIsRejected() {
        String weather = Exports.text("weather.layout.json");
        assertTrue(rejected(weather.replace("\"speed\"", "\"spead\"")).contains("changed"));
        assertTrue(rejected(weather.replace("\"slot\":1,", "\"slot\":64,")).contains("64"));
        // White space and escapes change nothing.
        Layout.parse(weather.replace("{\"object\"", " {\n\t\"obj\\u0065ct\" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "{", "[]", "null", "{} {}", "{\"a\":1,\"a\":2}", "{\"a\":01}", "{\"a\":1e999}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":tru}", "{\"packed\":{}}", "{\"packed\":1,\"layout\":2}"
    })
    void aTextThatIsNoExportIsRejected(String text) {
        rejected(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "1", "\"int\"", "{}", "{\"integer\":1}", "{\"choice\":[]}", "{\"union\":[]}", "{\"text\":[2,1]}", "{\"text\":[-1,1]}",
        "{\"text\":[0,4294967296]}",
        "{\"number\":[\"5\",\"4\",1],\"as\":\"integer\"}", "{\"number\":[\"0\",\"4\",0],\"as\":\"integer\"}",
        "{\"number\":[\"00\",\"4\",1],\"as\":\"integer\"}",
        "{\"number\":[\"0\",\"99999999999999999999\",1],\"as\":\"integer\"}", "{\"number\":[\"0\",\"4\",1]}",
        "{\"number\":[\"0\",\"4\",1],\"as\":{\"decimal\":19}}",
        "{\"number\":[\"0\",\"4\",1],\"as\":{\"text\":[0,0]}}", "{\"number\":[\"0\",\"4\",1],\"usual\":[\"1\",\"5\"],\"as\":\"integer\"}",
        "{\"number\":[\"0\",\"4\",1],\"every\":0,\"as\":\"integer\"}", "{\"number\":[\"0\",\"4\",1],\"as\":{\"decimal\":1},\"quantum\":[\"0\",1]}",
        "{\"number\":[\"0\",\"4\",1],\"as\":{\"time\":[\"YYYY\",\"0\"]}}",
        "{\"number\":[\"-1\",\"4\",1],\"as\":{\"time\":[\"YYYYMMDDhhmmss\",\"0\"]}}",
        "{\"number\":[\"0\",\"4\",1],\"as\":{\"time\":[\"YYYYMMDDhhmmssffffffffff\",\"0\"]}}",
        "{\"number\":[\"0\",\"9223372036854775807\",1],\"as\":{\"time\":[\"YYYYMMDDhhmmss\",\"0\"]}}",
        "{\"numbers\":[\" \"]}", "{\"numbers\":[\"\",{\"number\":[\"0\",\"4\",1],\"as\":{\"text\":[0,1]}}]}",
        "{\"numbers\":[\" \",{\"number\":[\"0\",\"4\",1],\"as\":\"integer\"}]}",
        "{\"pattern\":[[\"\",1,1]]}", "{\"pattern\":[[\"ba\",1,1]]}", "{\"pattern\":[[\"a\",2,1]]}", "{\"pattern\":[[\"a\",0,4294967295]]}",
        "{\"object\":[[\"a\",true,\"boolean\"],[\"a\",true,\"boolean\"]]}", "{\"object\":[[\"a\",1,\"boolean\"]]}", "{\"tuple\":[0,1]}",
        "{\"array\":[0,1]}", "{\"nullable\":7}"
    })
    void aNodeThatIsNoneIsRejected(String node) {
        rejectedNode(node);
    }

    @Test
    void deepAndLargeLayoutsAreRejectedOrWork() {
        rejectedNode("{\"nullable\":".repeat(100_000) + "\"boolean\"" + "}".repeat(100_000));
        rejected("[".repeat(1_000_000));
        rejected(" ".repeat(1 << 25));
        StringBuilder union = new StringBuilder("{\"union\":[\"boolean\"");
        for (int i = 0; i < 20_000; i++) {
            union.append(",{\"pattern\":[[\"ab\",0,8000]]}");
        }
        Layout layout = assertTimeoutPreemptively(Duration.ofSeconds(10), () -> Exports.ofNode(union + "]}"));
        assertEquals(true, layout.decode(layout.encode(true)));
    }

    @Test
    void arraysWithoutBitsEndAtTheLimit() {
        Layout layout = Exports.ofNode("{\"array\":[0,4294967295],\"item\":{\"constant\":0}}");
        PackedException error = assertThrows(PackedException.class, () -> layout.decode(Words.bytes("01ffffffff")));
        assertEquals(Kind.LIMIT, error.kind());
        Layout nested = Exports.ofNode(
            "{\"array\":[1,4294967295],\"item\":{\"array\":[4294967295,4294967295],\"item\":{\"pattern\":[[\"a\",8000,8000]]}}}");
        error = assertThrows(PackedException.class, () -> nested.decode(Words.bytes("0100000000")));
        assertEquals(Kind.LIMIT, error.kind());
        String deep = "{\"array\":[1,1],\"item\":".repeat(33) + "\"boolean\"" + "}".repeat(33);
        error = assertThrows(PackedException.class, () -> Exports.ofNode(deep).decode(Words.bytes("0100")));
        assertEquals(Kind.LIMIT, error.kind());
    }

    @Test
    void unionsThatTakeTooManyStepsAreALimit() {
        StringBuilder properties = new StringBuilder();
        Map<String, Object> message = new LinkedHashMap<>();
        for (int i = 0; i < 2000; i++) {
            properties.append("[\"p").append(i).append("\",true,{\"constant\":0}],");
            message.put("p" + i, 0);
        }
        message.put("last", 1);
        String object = "{\"object\":[" + properties + "[\"last\",true,{\"constant\":%d}]]}";
        String union = "{\"union\":[" + String.format(object, 0) + "," + String.format(object, 1) + "]}";
        Layout layout = Exports.ofNode("{\"array\":[0,99],\"item\":" + union + "}");
        layout.encode(Collections.nCopies(10, message));
        PackedException error = assertThrows(PackedException.class, () -> layout.encode(Collections.nCopies(40, message)));
        assertEquals(Kind.LIMIT, error.kind());
    }

    @Test
    void damagedStatisticsAreRejected() {
        String canonical = "{\"packed\":1,\"layout\":{\"object\":[[\"a\",true,"
            + "{\"number\":[\"0\",\"9\",1],\"as\":\"integer\"}],[\"b\",true,\"boolean\"]]}}";
        byte[] owner = Exports.sha256(canonical);
        int[][] bodies = {
            {}, {0, 0, 0}, {0, 0, 0, 0, 0}, {0x80, 0, 0, 0, 0}, {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0},
            {1, 0, 1, 4, 255, 0, 0, 0},
            {1, 0, 1, 3, 0, 0, 0, 0}, {1, 2, 1, 4, 0, 0, 0, 0}, {1, 0, 1, 63, 0, 0, 0, 0}, {1, 0, 2, 62, 128, 62, 128, 0, 0, 0},
            {0, 1, 17, 0, 1, 4, 0, 0, 0}, {0, 1, 8, 0, 1, 4, 0, 10, 0, 0}, {0, 0, 2, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0},
            {0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0},
            {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}
        };
        for (int[] body : bodies) {
            rejected(Exports.of(trained(canonical, owner, body)));
        }
        Layout.parse(Exports.of(trained(canonical, owner, new int[] {1, 0, 1, 4, 0, 0, 2, 0, 0, 3, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0})));
        owner[0]++;
        assertTrue(rejected(Exports.of(trained(canonical, owner, new int[] {0, 0, 0, 0}))).contains("another layout"));
        rejected(Exports.of(canonical.replace("\"layout\"", "\"statistics\":\"*\",\"layout\"")));
    }

    private static String trained(String canonical, byte[] owner, int[] body) {
        byte[] bytes = new byte[5 + body.length];
        bytes[0] = 1;
        System.arraycopy(owner, 0, bytes, 1, 4);
        for (int i = 0; i < body.length; i++) {
            bytes[5 + i] = (byte) body[i];
        }
        return canonical.replace("\"layout\"", "\"statistics\":\"" + Base64.getEncoder().encodeToString(bytes) + "\",\"layout\"");
    }

    @Test
    void membersOfAnotherKindAreRejected() {
        for (String canonical : new String[] {
            "{\"packed\":2,\"layout\":\"boolean\"}", "{\"packed\":1,\"slot\":\"link\",\"layout\":\"boolean\"}",
            "{\"packed\":1,\"check\":3,\"layout\":\"boolean\"}",
            "{\"packed\":1,\"new\":3,\"layout\":\"boolean\"}", "{\"packed\":1,\"slot\":\"port\",\"layout\":{\"constant\":1}}",
            "{\"packed\":1,\"layout\":\"boolean\",\"definitions\":null}"
        }) {
            rejected(Exports.of(canonical));
        }
        String number = "{\"packed\":1,\"layout\":{\"number\":[\"0\",\"4\",1],\"as\":\"integer\"}}";
        for (String rounded : new String[] {"[0]", "[1]", "[-1]", "0", "[\"0\"]"}) {
            rejected(Exports.export(number, ",\"rounded\":" + rounded));
        }
    }

    @Test
    void randomBytesAreMessagesOrErrors() {
        Random random = new Random(7);
        for (String name : new String[] {"weather", "container", "trained", "check", "port"}) {
            Layout layout = Exports.layout(name);
            for (int i = 0; i < 20_000; i++) {
                byte[] bytes = new byte[random.nextInt(40) + 1];
                random.nextBytes(bytes);
                bytes[0] = (byte) (layout.hasSlotByte() ? layout.slot() | random.nextInt(2) << 6 : bytes[0]);
                try {
                    Object value = layout.decode(bytes, Map.of("device", "D7"));
                    assertEquals(value, layout.decode(layout.encode(value), Map.of("device", "D7")));
                } catch (PackedException e) {
                    assertTrue(e.offset() <= bytes.length, e.getMessage());
                }
            }
        }
    }

    @Test
    void aMessageThatIsTooLargeIsALimit() {
        Layout layout = Exports.layout("weather");
        assertEquals(Kind.LIMIT, assertThrows(PackedException.class, () -> layout.decode(new byte[(1 << 20) + 1])).kind());
    }
}
