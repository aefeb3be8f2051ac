package dev.dunnage.pson;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Keys that are known from earlier messages are the same keys, and others are others. */
class KeysTest {
    /** Keys of all lengths up to 45; those of one length differ in one or two characters. */
    private static List<String> similar() {
        List<String> keys = new ArrayList<>(List.of("", "\u00e9", "\ud83d\ude00", "\u00e9t\u00e9", "\0", "\0\0"));
        for (int length = 1; length <= 45; length++) {
            String base = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz".substring(0, length);
            keys.add(base);
            for (int i = 0; i < length; i++) {
                keys.add(base.substring(0, i) + 'Z' + base.substring(i + 1));
            }
        }
        return keys;
    }

    private static Map<String, Object> map(List<String> keys) {
        Map<String, Object> map = new LinkedHashMap<>();
        keys.forEach(key -> map.put(key, (long) map.size()));
        return map;
    }

    @Test
    void similarKeysAreNotConfused() {
        Pson pson = Pson.DEFAULT.withStrict(true);
        List<String> keys = similar();
        Random random = new Random(1);
        for (int round = 0; round < 50; round++) {
            Map<String, Object> map = map(keys.subList(0, 1 + random.nextInt(keys.size())));
            byte[] message = pson.encode(map);
            // An instance that has seen no key.
            assertArrayEquals(Pson.DEFAULT.withStrict(true).encode(map), message);
            assertEquals(new ArrayList<>(map.entrySet()), new ArrayList<>(((Map<?, ?>) pson.decode(message)).entrySet()));
            assertEquals(map, pson.decode(ByteBuffer.allocateDirect(message.length).put(message).flip()));
            Collections.shuffle(keys, random);
        }
    }

    /** Keys are compared by words of eight bytes, which must not need bytes that are not there. */
    @Test
    void keysAreFoundAtTheEndsOfAnArray() {
        Pson pson = Pson.DEFAULT.withStrict(true);
        for (int round = 0; round < 3; round++) {
            for (String key : similar()) {
                Map<String, Object> map = Map.of(key, 1L);
                assertEquals(map, pson.decode(pson.encode(map)));
                byte[] buffer = new byte[pson.encode(map).length];
                pson.encode(map, ByteBuffer.wrap(buffer));
                assertEquals(map, pson.decode(buffer));
            }
        }
    }

    @Test
    void keysThatComeAgainAreTheSameString() {
        Pson pson = Pson.DEFAULT.withStrict(true);
        byte[] message = pson.encode(Map.of("temperature", 1));
        List<Object> keys = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            keys.addAll(((Map<?, ?>) pson.decode(message)).keySet());
        }
        assertSame(keys.get(2), keys.get(3));
    }

    @Test
    void threadsShareKeys() {
        Pson pson = Pson.DEFAULT.withStrict(true);
        List<String> keys = similar();
        assertTrue(IntStream.range(0, 400).parallel().allMatch(i -> {
            List<String> some = new ArrayList<>(keys);
            Collections.shuffle(some, new Random(i));
            Map<String, Object> map = map(some.subList(0, 100));
            return pson.decode(pson.encode(map)).equals(map);
        }));
    }

    @Test
    void expectedNumbersDoNotChangeTheBytes() {
        int[] numbers = {0, 1, 30, 31, 127, 128, 16_383, 16_384};
        for (int n : numbers) {
            List<Object> array = new ArrayList<>(Collections.nCopies(n, true));
            byte[] message = Pson.DEFAULT.encode(Map.of("a", array));
            for (int expected : numbers) {
                assertArrayEquals(message, written(array, expected), n + " " + expected);
            }
            assertArrayEquals(message, written(array, -1));
            assertArrayEquals(message, written(array, Integer.MAX_VALUE));
            assertEquals(Map.of("a", array), Pson.DEFAULT.decode(message));
        }
    }

    private static byte[] written(List<Object> array, int expected) {
        PsonWriter writer = Pson.DEFAULT.writer(new byte[16]);
        writer.startMap(expected);
        writer.key("a");
        writer.startArray(expected);
        array.forEach(item -> writer.writeBoolean((Boolean) item));
        writer.end();
        writer.end();
        return writer.toByteArray();
    }
}
