package dev.dunnage.bench.smartgrid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The memory that a serializer holds is measured in a JVM of its own. */
class MemoryTest {
    private final SuiteResult result = new SuiteResult();

    private SuiteResult measure(String id) {
        Settings settings = new Settings(true, Fill.CORE, List.of("LPHD"));
        new Memory(settings).measure(Map.of(id, new Subject("a format", id, "1")), result);
        return result;
    }

    private double value(String operation, String metric) {
        return result.figures().stream()
                .filter(figure -> figure.operation().equals(operation) && figure.metric().equals(metric))
                .mapToDouble(Figure::value)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void garbageOfARunIsHeldAndNotLive() {
        assertTrue(measure("yaml-snakeyaml").complete());
        assertEquals(6, result.figures().size());
        // SnakeYAML allocates 0.1 MB or more for this message, and keeps less than that of it.
        assertTrue(value("serialize", "held") - value("serialize", "live") > 0.1, result.figures().toString());
        assertTrue(value("serialize", "live") > 0.1, result.figures().toString());
        assertTrue(value("serialize", "metaspace") > 0.5, result.figures().toString());
        assertTrue(value("deserialize", "live") < value("serialize", "live"), result.figures().toString());
    }

    @Test
    void aSerializerThatStopsIsAFailureWithItsReason() {
        assertEquals(false, measure("no such serializer").complete());
        assertTrue(result.figures().get(0).note().contains("NullPointerException"), result.figures().get(0).note());
    }
}
