package dev.dunnage.pson;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Hostile messages and values: each is a clear error, soon and without memory for announced but absent content. */
class HostileTest {
    private static void fails(byte[] message, Kind kind, int offset) {
        PsonException e = assertThrows(PsonException.class, () -> Pson.DEFAULT.decode(message));
        assertEquals(kind + " " + offset, e.kind() + " " + e.offset());
        assertNull(e.pointer());
        assertTrue(e.getMessage().startsWith(kind + ": ") && e.getMessage().endsWith(" at byte " + offset), e.getMessage());
    }

    private static void refuses(Object value, Kind kind, String pointer) {
        PsonException e = assertThrows(PsonException.class, () -> Pson.DEFAULT.encode(value));
        assertEquals(kind + " " + pointer, e.kind() + " " + e.pointer());
        assertEquals(-1, e.offset());
    }

    private static byte[] repeated(String hex, int times) {
        return Words.unhex(hex.repeat(times));
    }

    @Test
    void nestingBombsStopAtTheLimit() {
        fails(repeated("e1", 40_000), Kind.LIMIT, 32);
        fails(repeated("c180", 20_000), Kind.LIMIT, 64);
        Pson deep = Pson.DEFAULT.withLimits(Limits.DEFAULT.withNesting(512));
        assertEquals(512, assertThrows(PsonException.class, () -> deep.decode(repeated("e1", 40_000))).offset());
        assertThrows(IllegalArgumentException.class, () -> Limits.DEFAULT.withNesting(513));
        assertThrows(IllegalArgumentException.class, () -> Limits.DEFAULT.withSize(-1));
    }

    @Test
    void announcedBytesAndElementsTakeNoMemory() {
        for (String header : List.of("9f", "bf", "df", "ff")) {
            // 4 GB, and 2^64 - 1.
            fails(Words.unhex(header + "8080808010"), Kind.TRUNCATED, 6);
            fails(Words.unhex(header + "ffffffffffffffffff01"), Kind.TRUNCATED, 11);
            fails(Words.unhex(header + "ffffffffffffffffff02"), Kind.MALFORMED, 0);
        }
        fails(new byte[(1 << 20) + 1], Kind.LIMIT, 1 << 20);
    }

    @Test
    void everyPrefixIsTruncated() {
        byte[] message = Pson.DEFAULT.encode(Map.of("a", List.of(1, -300, 1.5, 0.1, "text", "\u00e9", new byte[40], true)));
        for (int end = 0; end < message.length; end++) {
            fails(Arrays.copyOf(message, end), Kind.TRUNCATED, end);
        }
        fails(Arrays.copyOf(message, message.length + 1), Kind.MALFORMED, message.length);
    }

    @Test
    void textIsUtf8() {
        for (String text : List.of("80", "c080", "e0a0", "eda080", "f4908080", "f08080af", "ff", "c3", "e28280ff")) {
            fails(Words.unhex(String.format("%02x", 0x80 + text.length() / 2) + text), Kind.MALFORMED, 0);
            byte[] key = Words.unhex("c1" + String.format("%02x", 0x80 + text.length() / 2) + text + "00");
            fails(key, Kind.MALFORMED, 1);
        }
        fails(Words.unhex("c2816100816101"), Kind.MALFORMED, 4);
        fails(Words.unhex("c10101"), Kind.MALFORMED, 1);
    }

    @Test
    void valuesThatPsonDoesNotHaveAreRejected() {
        refuses("\ud800", Kind.TYPE, "");
        refuses(Map.of("a/~", List.of(1, "x\udc00")), Kind.TYPE, "/a~1~0/1");
        refuses(Map.of("\ud800", 1), Kind.TYPE, "/\ud800");
        refuses(List.of(BigInteger.ONE.shiftLeft(64)), Kind.RANGE, "/0");
        refuses(BigInteger.ONE.shiftLeft(63).negate().subtract(BigInteger.ONE), Kind.RANGE, "");
        refuses(new BigDecimal("0.10000000000000000001"), Kind.RANGE, "");
        refuses(new BigDecimal("1e400"), Kind.RANGE, "");
        refuses(Map.of(1, 2), Kind.TYPE, "/1");
        refuses(List.of(new Object()), Kind.TYPE, "/0");
        refuses(new byte[(1 << 20) + 1], Kind.LIMIT, "");
        refuses(List.of(List.of("a".repeat(1 << 19)), "b".repeat(1 << 20), 1), Kind.LIMIT, "");
        List<Object> cyclic = new ArrayList<>();
        cyclic.add(cyclic);
        refuses(cyclic, Kind.LIMIT, "/0".repeat(32));
        Map<String, Object> map = new HashMap<>();
        map.put("m", map);
        refuses(map, Kind.LIMIT, "/m".repeat(32));
    }

    @Test
    void numbersOfEveryKindAreWritten() {
        Object[] all = {1, (short) 2, (byte) 3, 4L, 1.5f, 2.0, BigInteger.TEN, new BigDecimal("0.1"), new BigDecimal("1e3"), new int[] {1}, 'c', new String[] {"s"}};
        byte[] message = Pson.DEFAULT.encode(all);
        assertEquals("[1, 2, 3, 4, 1.5, 2, 10, 0.1, 1000, [1], c, [s]]", String.valueOf(Pson.DEFAULT.decode(message)));
        for (double f : new double[] {Double.NaN, Double.POSITIVE_INFINITY, -0.0, 0x1p63, 0x1p64, -0x1p63, 1e300, Double.MIN_VALUE}) {
            Object back = Pson.DEFAULT.decode(Pson.DEFAULT.encode(f));
            assertEquals(f, ((Number) back).doubleValue());
        }
        assertEquals(new BigInteger("18446744073709551615"), Pson.DEFAULT.decode(Pson.DEFAULT.encode(new BigInteger("18446744073709551615"))));
        assertEquals(0x1p64, Pson.DEFAULT.decode(Pson.DEFAULT.encode(new BigDecimal("18446744073709551616"))));
        assertEquals(Long.MIN_VALUE, Pson.DEFAULT.decode(Pson.DEFAULT.encode(Long.MIN_VALUE)));
    }

    /** {@code Double.toString} of Java before 19 has "2.0000000000000001E23" for the double of 2E23. */
    @Test
    void decimalsThatADoubleStandsForAreWritten() {
        for (int power = -30; power <= 30; power++) {
            for (int digits = 1; digits < 1000; digits++) {
                BigDecimal decimal = BigDecimal.valueOf(digits).scaleByPowerOfTen(power);
                double f = ((Number) Pson.DEFAULT.decode(Pson.DEFAULT.encode(decimal))).doubleValue();
                assertEquals(0, Decimals.shortest(f).compareTo(decimal), decimal::toString);
            }
        }
        for (double f : new double[] {Double.MIN_VALUE, Double.MAX_VALUE, 0x1p-1022, 0.1 + 0.2}) {
            assertEquals(f, Pson.DEFAULT.decode(Pson.DEFAULT.encode(Decimals.shortest(f))));
        }
    }

    @Test
    void aWriterIsUsedInOrder() {
        PsonWriter writer = Pson.DEFAULT.writer();
        assertThrows(PsonException.class, writer::toByteArray);
        assertThrows(PsonException.class, () -> writer.key("a"));
        writer.startMap();
        assertThrows(PsonException.class, () -> writer.writeLong(1));
        writer.key("a");
        assertThrows(PsonException.class, () -> writer.key("b"));
        assertThrows(PsonException.class, writer::end);
        writer.writeLong(1);
        assertThrows(PsonException.class, writer::toByteArray);
        writer.end();
        assertThrows(PsonException.class, writer::writeNull);
        assertArrayEquals(Words.unhex("c1816101"), writer.toByteArray());
        writer.reset();
        writer.writeNull();
        assertArrayEquals(Words.unhex("62"), writer.toByteArray());
    }

    @Test
    void aReaderAsksForTypes() {
        PsonReader reader = Pson.DEFAULT.reader(ByteBuffer.wrap(Words.unhex("e5016161a20102c0")));
        assertEquals(Token.ARRAY, reader.next());
        assertEquals(5, reader.size());
        assertEquals(Token.INTEGER, reader.next());
        PsonException e = assertThrows(PsonException.class, reader::stringValue);
        assertEquals(Kind.TYPE + " 1", e.kind() + " " + e.offset());
        assertThrows(PsonException.class, reader::booleanValue);
        assertEquals(1, reader.longValue());
        assertEquals(Token.BOOLEAN, reader.next());
        assertThrows(PsonException.class, reader::longValue);
        reader.next();
        assertEquals(Token.BYTES, reader.next());
        assertEquals(ByteBuffer.wrap(new byte[] {1, 2}), reader.slice());
        assertTrue(reader.slice().isReadOnly());
        reader.next();
        reader.skip();
        assertEquals(Token.END_ARRAY, reader.next());
        assertNull(reader.next());
    }

    @Test
    void streamsHaveOneMessageAfterAnother() throws IOException {
        byte[] messages = Words.unhex("c1816101" + "60" + "e0" + "9f20" + "78".repeat(32) + "c1");
        PsonStream stream = Pson.DEFAULT.stream(new ByteArrayInputStream(messages));
        assertEquals("{a=1} false [] " + "x".repeat(32), stream.decode() + " " + stream.decode() + " " + stream.decode() + " " + stream.decode());
        assertEquals(Kind.TRUNCATED, assertThrows(PsonException.class, stream::decode).kind());
        assertNull(stream.next());
        // Two messages of a megabyte that never end need only the memory of one.
        PsonStream endless = Pson.DEFAULT.stream(new java.io.InputStream() {
            private int next;

            @Override
            public int read() {
                return next++ == 0 ? 0xff : 0xf0;
            }
        });
        assertTrue(endless.next().length <= (1 << 20) + 1);
    }

    @Test
    void randomBytesAreAMessageOrAnError() {
        Random random = new Random(1);
        for (int round = 0; round < 200_000; round++) {
            byte[] message = new byte[random.nextInt(24)];
            random.nextBytes(message);
            try {
                Object value = Pson.DEFAULT.decode(message);
                byte[] canonical = Pson.DEFAULT.encode(value);
                assertArrayEquals(canonical, Pson.DEFAULT.encode(Pson.DEFAULT.decode(canonical)));
            } catch (PsonException e) {
                assertTrue(e.offset() >= 0 && e.offset() <= message.length, e.getMessage());
            }
        }
    }

    @Test
    void randomDocumentsComeBack() {
        Random random = new Random(2);
        for (int round = 0; round < 20_000; round++) {
            Object value = document(random, 4);
            byte[] message = Pson.DEFAULT.encode(value);
            StringBuilder expected = new StringBuilder();
            Words.describe(value, expected);
            StringBuilder found = new StringBuilder();
            Words.describe(Pson.DEFAULT.withStrict(true).decode(message), found);
            assertEquals(expected.toString(), found.toString());
        }
    }

    private static Object document(Random random, int levels) {
        switch (random.nextInt(levels > 0 ? 8 : 6)) {
            case 0:
                return null;
            case 1:
                return random.nextBoolean();
            case 2:
                return random.nextLong() >> random.nextInt(64);
            case 3:
                return Double.longBitsToDouble(random.nextLong() & ~0x3ffL << random.nextInt(40));
            case 4:
                return random.ints(random.nextInt(50), 1, 0x300).collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
            case 5:
                return new byte[random.nextInt(40)];
            case 6:
                List<Object> list = new ArrayList<>();
                random.ints(random.nextInt(40)).forEach(i -> list.add(document(random, levels - 1)));
                return list;
            default:
                Map<String, Object> map = new LinkedHashMap<>();
                random.ints(random.nextInt(6)).forEach(i -> map.put("k" + i, document(random, levels - 1)));
                return map;
        }
    }
}
