package dev.dunnage.packed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that fit: {@code spec/vectors/packed/fit.json}. */
class FitTest {
    private static List<Map<?, ?>> vectors() throws Exception {
        Map<?, ?> file = (Map<?, ?>) Json.parse(Files.readString(Path.of("../../spec/vectors/packed/fit.json")));
        List<Map<?, ?>> all = new ArrayList<>();
        ((List<?>) file.get("vectors")).forEach(vector -> all.add((Map<?, ?>) vector));
        return all;
    }

    private static Layout layout(Map<?, ?> vector) {
        StringBuilder text = new StringBuilder();
        Json.write(vector.get("exported"), text);
        return Layout.parse(text.toString());
    }

    @Test
    void asMuchOfAMessageIsWrittenAsFits() throws Exception {
        int refused = 0;
        for (Map<?, ?> vector : vectors()) {
            String name = (String) vector.get("name");
            Layout layout = layout(vector);
            Object message = VectorsTest.value(vector.get("value"));
            int limit = ((Number) vector.get("limit")).intValue();
            if (vector.containsKey("kind")) {
                PackedException error = assertThrows(PackedException.class, () -> layout.encodeFit(message, limit), name);
                assertEquals(vector.get("kind"), error.kind().toString(), name);
                assertEquals(-1, error.offset(), name);
                refused++;
                continue;
            }
            Fit fit = layout.encodeFit(message, limit);
            assertEquals(vector.get("hex"), Words.hex(fit.bytes()), name);
            assertEquals(((Number) vector.get("readings")).intValue(), fit.readings(), name);
            assertEquals(vector.get("left_out"), fit.leftOut(), name);
        }
        assertTrue(refused > 0);
    }

    @Test
    void theReceiverSeesWhatIsMissing() throws Exception {
        for (Map<?, ?> vector : vectors()) {
            Layout layout = layout(vector);
            Object message = VectorsTest.value(vector.get("value"));
            boolean fits = false;
            for (int limit = 4; limit < 200; limit += 7) {
                Fit fit;
                try {
                    fit = layout.encodeFit(message, limit);
                } catch (PackedException e) {
                    assertEquals("limit false", e.kind() + " " + fits, (String) vector.get("name"));
                    continue;
                }
                fits = true;
                assertTrue(fit.bytes().length <= limit);
                List<String> missing = layout.leftOut(layout.decode(fit.bytes()));
                assertTrue(missing.containsAll(fit.leftOut()), (String) vector.get("name"));
            }
            Fit whole = layout.encodeFit(message, 5000);
            assertEquals(Words.hex(layout.encode(message)), Words.hex(whole.bytes()));
            assertEquals(List.of(), whole.leftOut());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "[1]", "[[1]]", "[[1,256]]", "[[1,0]]", "[[-1,1]]", "[[\"1\",1]]"})
    void ranksThatAreNotNumbersAreRejected(String dropped) {
        String canonical = "{\"packed\":1,\"layout\":\"boolean\"}";
        assertThrows(LayoutException.class, () -> Layout.parse(Exports.export(canonical, ",\"dropped\":" + dropped)));
    }
}
