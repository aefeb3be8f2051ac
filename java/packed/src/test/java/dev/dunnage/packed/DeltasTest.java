package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages in mode 2: {@code spec/vectors/packed/deltas.json}, those of {@code series.json}, and random ones. */
class DeltasTest {
    /** After this many messages without an acknowledgement, a sender forgets its reference. */
    private static final int MAX_UNACKNOWLEDGED = 16;

    private static List<Map<?, ?>> vectors(String member) throws Exception {
        Map<?, ?> file = (Map<?, ?>) Json.parse(Files.readString(java.nio.file.Path.of("../../spec/vectors/packed/deltas.json")));
        List<Map<?, ?>> all = new ArrayList<>();
        for (Object one : (List<?>) file.get("vectors")) {
            Map<?, ?> vector = (Map<?, ?>) one;
            Map<?, ?> schema = (Map<?, ?>) vector.get("schema");
            assertTrue(Exports.text("deltas.layout.json").contains("\"statistics\":\"" + schema.get("x-dunnage-statistics") + "\""));
            if (vector.containsKey(member)) {
                all.add(vector);
            }
        }
        return all;
    }

    private static byte[] hex(Object text) {
        return Words.bytes((String) text);
    }

    private static Reference reference(Layout layout, Object plain) {
        return layout.referenceFrom(hex(plain), Map.of());
    }

    private static PackedException undecodable(Layout layout, byte[] message, List<Reference> references) {
        return assertThrows(PackedException.class, () -> layout.decodeDelta(message, references, Map.of()));
    }

    /** Both ends of a link, as simple as the vectors allow. */
    private static final class Ends {
        final Layout layout = Exports.layout("deltas");
        private final int depth;
        private final Deque<Reference> pending = new ArrayDeque<>();
        private final List<Reference> received = new ArrayList<>();
        private Reference acknowledged;
        private int unacknowledged;
        int deltas;

        Ends(int depth) {
            this.depth = depth;
        }

        void send(Map<?, ?> step) {
            Object value = VectorsTest.value(step.get("send"));
            acknowledged = unacknowledged >= MAX_UNACKNOWLEDGED ? null : acknowledged;
            unacknowledged = unacknowledged >= MAX_UNACKNOWLEDGED ? 1 : unacknowledged + 1;
            byte[] whole = layout.encode(value);
            byte[] delta = acknowledged == null ? whole : layout.encodeDelta(value, acknowledged);
            byte[] sent = delta.length < whole.length ? delta : whole;
            assertEquals(step.get("hex"), Words.hex(sent));
            Reference current = layout.reference(value);
            assertEquals(step.get("name"), String.format("%04x", current.name()));
            if (pending.size() == depth) {
                pending.removeFirst();
            }
            pending.addLast(current);
            if (!(Boolean) step.get("lost")) {
                receive(value, sent, current);
            }
        }

        private void receive(Object value, byte[] sent, Reference current) {
            if (!Layout.isDelta(sent)) {
                assertEquals(VectorsTest.words(value), VectorsTest.words(layout.decode(sent)));
                received.add(0, current);
                return;
            }
            deltas++;
            Decoded decoded = layout.decodeDelta(sent, received, Map.of());
            assertEquals(VectorsTest.words(value), VectorsTest.words(decoded.value()));
            assertArrayEquals(current.plain(), decoded.reference().plain());
            assertEquals(current.name(), decoded.reference().name());
            assertEquals(acknowledged.name(), decoded.used());
            assertEquals(Kind.REFERENCE, assertThrows(PackedException.class, () -> layout.decode(sent)).kind());
            received.add(0, decoded.reference());
        }

        void acknowledge(Map<?, ?> step) {
            boolean news = false;
            for (Reference one : new ArrayList<>(pending)) {
                if (step.get("acknowledge").equals(String.format("%04x", one.name()))) {
                    news = true;
                    while (acknowledged != one) {
                        acknowledged = pending.removeFirst();
                    }
                    unacknowledged = 0;
                }
            }
            assertEquals(step.get("news"), news);
        }

        void forget() {
            acknowledged = null;
            unacknowledged = 0;
        }
    }

    @Test
    void sequencesHaveTheBytesOfTheVectors() throws Exception {
        int deltas = 0;
        for (Map<?, ?> vector : vectors("steps")) {
            Ends ends = new Ends(((Number) vector.get("pending")).intValue());
            for (Object one : (List<?>) vector.get("steps")) {
                Map<?, ?> step = (Map<?, ?>) one;
                if (step.containsKey("send")) {
                    ends.send(step);
                } else if (step.containsKey("acknowledge")) {
                    ends.acknowledge(step);
                } else {
                    assertTrue(step.containsKey("forget"));
                    ends.forget();
                }
            }
            deltas += ends.deltas;
        }
        assertTrue(deltas > 20, deltas + " deltas");
    }

    @Test
    void damagedDeltasAreTheErrorsOfTheVectors() throws Exception {
        List<Map<?, ?>> all = vectors("kind");
        assertEquals(7, all.size());
        for (Map<?, ?> vector : all) {
            Layout layout = Exports.layout("deltas");
            List<Reference> references = new ArrayList<>();
            ((List<?>) vector.get("references")).forEach(plain -> references.add(reference(layout, plain)));
            PackedException error = undecodable(layout, hex(vector.get("hex")), references);
            assertEquals(vector.get("kind") + " " + vector.get("offset"), error.kind() + " " + error.offset(), (String) vector.get("name"));
        }
    }

    @Test
    void seriesGoOnAfterThoseOfTheReference() throws Exception {
        List<Map<?, ?>> all = SeriesTest.vectors(false, true);
        assertEquals(8, all.size());
        for (Map<?, ?> vector : all) {
            Layout layout = SeriesTest.layout(vector);
            Reference reference = reference(layout, vector.get("reference"));
            assertEquals(vector.get("reference"), Words.hex(reference.plain()));
            Object value = VectorsTest.value(vector.get("value"));
            byte[] bytes = layout.encodeDelta(value, reference);
            assertEquals(vector.get("hex"), Words.hex(bytes), (String) vector.get("name"));
            Decoded decoded = layout.decodeDelta(bytes, List.of(reference), Map.of());
            assertEquals(VectorsTest.words(value), VectorsTest.words(decoded.value()));
            survives(layout, bytes, reference);
        }
        List<Map<?, ?>> damaged = SeriesTest.vectors(true, true);
        assertEquals(6, damaged.size());
        for (Map<?, ?> vector : damaged) {
            Layout layout = SeriesTest.layout(vector);
            PackedException error = undecodable(layout, hex(vector.get("hex")), List.of(reference(layout, vector.get("reference"))));
            assertEquals(vector.get("kind") + " " + vector.get("offset"), error.kind() + " " + error.offset(), (String) vector.get("name"));
        }
    }

    /** Cuts a delta at each byte, and changes each bit: an error, or the delta of another message. */
    private static void survives(Layout layout, byte[] bytes, Reference reference) {
        for (int length = 0; length < bytes.length; length++) {
            PackedException error = undecodable(layout, Arrays.copyOf(bytes, length), List.of(reference));
            assertEquals(length < 3 ? "truncated " + length : "reference 0", error.kind() + " " + error.offset());
        }
        for (int bit = 8; bit < 8 * bytes.length; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (0x80 >> bit % 8);
            try {
                Object other = layout.decodeDelta(damaged, List.of(reference), Map.of()).value();
                assertArrayEquals(damaged, layout.encodeDelta(other, reference));
            } catch (PackedException e) {
                assertEquals("reference 0", e.kind() + " " + e.offset());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"readings", "numbers"})
    void randomDeltasRoundTripAndSurviveDamage(String name) {
        Layout layout = Exports.layout("series-" + name);
        Thing thing = new Thing(5);
        Reference before = layout.reference(thing.message(name));
        for (int i = 0; i < 300; i++) {
            Object message = thing.message(name);
            byte[] bytes = layout.encodeDelta(message, before);
            Decoded decoded = layout.decodeDelta(bytes, List.of(before), Map.of());
            assertEquals(VectorsTest.words(message), VectorsTest.words(decoded.value()));
            Reference after = layout.reference(message);
            // What a reader keeps of a delta is what a writer has, and what a store gives back.
            for (Reference same : new Reference[] {decoded.reference(), layout.referenceFrom(after.plain(), Map.of())}) {
                assertArrayEquals(layout.encodeDelta(message, after), layout.encodeDelta(message, same));
                assertEquals(after.name(), same.name());
            }
            if (i % 10 == 0) {
                survives(layout, bytes, before);
            }
            before = after;
        }
    }

    @Test
    void aDeltaOfTwoMessagesIsAmbiguous() {
        Layout layout = Exports.layout("series-numbers");
        // Two messages whose difference is a multiple of the polynomial of the CRC have one name.
        long x = 0x1234_0000L;
        long y = x ^ 0x11021L << 4;
        long grown = 1;
        Reference first;
        Reference second;
        do {
            grown++;
            first = layout.reference(List.of(x - grown));
            second = layout.reference(List.of(y - grown));
        } while ((first.name() & 63) != (second.name() & 63));
        byte[] delta = layout.encodeDelta(List.of(x), first);
        assertArrayEquals(delta, layout.encodeDelta(List.of(y), second));
        assertEquals(List.of(x), layout.decodeDelta(delta, List.of(first), Map.of()).value());
        assertEquals(List.of(y), layout.decodeDelta(delta, List.of(second, second), Map.of()).value());
        assertEquals(Kind.REFERENCE, undecodable(layout, delta, List.of(first, second)).kind());
    }

    @Test
    void eightReferencesAreTried() {
        Layout layout = Exports.layout("series-numbers");
        Reference reference = layout.reference(List.of(700, 800));
        List<Reference> tagged = new ArrayList<>();
        for (int i = 0; tagged.size() < 8; i++) {
            Reference other = layout.reference(List.of(i));
            if ((other.name() & 63) == (reference.name() & 63)) {
                // A repetition uses up no trial.
                tagged.add(other);
                tagged.add(tagged.size() < 7 ? other : reference);
            }
        }
        byte[] delta = layout.encodeDelta(List.of(900, 1000), reference);
        assertEquals(List.of(900L, 1000L), layout.decodeDelta(delta, tagged, Map.of()).value());
        List<Reference> others = new ArrayList<>();
        for (int i = 0; others.size() < 8; i++) {
            Reference other = layout.reference(List.of(i, i));
            if ((other.name() & 63) == (reference.name() & 63)) {
                others.add(other);
            }
        }
        others.add(reference);
        assertEquals(Kind.REFERENCE, undecodable(layout, delta, others).kind());
        others.remove(0);
        assertEquals(reference.name(), layout.decodeDelta(delta, others, Map.of()).used());
    }

    @Test
    void whatIsNoReferenceIsAnError() {
        Layout layout = Exports.layout("series-numbers");
        Reference reference = layout.reference(List.of(1));
        byte[] delta = layout.encodeDelta(List.of(2), reference);
        assertTrue(Layout.isDelta(delta) && !Layout.isDelta(reference.plain()) && !Layout.isDelta(new byte[0]));
        assertEquals(Kind.REFERENCE, undecodable(layout, delta, List.of()).kind());
        assertEquals(Kind.MALFORMED, undecodable(layout, reference.plain(), List.of(reference)).kind());
        assertEquals(Kind.LIMIT, undecodable(layout, new byte[(1 << 20) + 1], List.of(reference)).kind());
        Layout other = Exports.layout("deltas");
        assertThrows(IllegalArgumentException.class, () -> other.decodeDelta(delta, List.of(reference), Map.of()));
        assertThrows(IllegalArgumentException.class, () -> layout.encodeDelta(List.of(2), other.reference(deltasMessage())));
        for (String plain : new String[] {"", "0a", "0b", "4b1921a80733", "0bc9"}) {
            assertThrows(PackedException.class, () -> reference(layout, plain), plain);
        }
        assertEquals(-1, assertThrows(PackedException.class, () -> layout.reference(List.of(-1))).offset());
        assertEquals("/0", assertThrows(PackedException.class, () -> layout.encodeDelta(List.of(-1), reference)).pointer());
        Layout weather = Exports.layout("weather");
        assertFalse(weather.hasStatistics());
        assertEquals(Kind.MALFORMED, assertThrows(PackedException.class, () -> weather.reference(Map.of())).kind());
        assertEquals(Kind.MALFORMED, undecodable(weather, delta, List.of()).kind());
    }

    @Test
    void theReadmesExampleRuns() throws Exception {
        Layout layout = Exports.layout("trained");
        ObjectMapper mapper = new ObjectMapper();
        JsonNode reading = mapper.readTree(Exports.messages("trained").get(0).json);
        JsonNode next = mapper.readTree(Exports.messages("trained").get(1).json);
        Reference acknowledged = layout.reference(mapper.convertValue(reading, Object.class));
        byte[] delta = layout.encodeDelta(mapper.convertValue(next, Object.class), acknowledged);
        Decoded decoded = layout.decodeDelta(delta, List.of(acknowledged), Map.of());
        assertEquals(Json.parse(Exports.messages("trained").get(1).json), decoded.value());
        assertEquals(layout.reference(decoded.value()).name(), decoded.reference().name());
        JsonNode tree = mapper.valueToTree(decoded.value());
        assertEquals(mapper.writeValueAsString(next), mapper.writeValueAsString(tree));
    }

    private static Object deltasMessage() {
        return Exports.layout("deltas").decode(Words.bytes("092d27602fff2e795f50000c4b2656c21a2c1812140300"));
    }
}
