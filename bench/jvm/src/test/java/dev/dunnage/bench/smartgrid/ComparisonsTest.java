package dev.dunnage.bench.smartgrid;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The memory of the paper's serializers alone is compared with the paper's range, with the options of its own measurement. */
class ComparisonsTest {
    private static final Subject KRYO = new Subject("kryo", "Kryo", "1");
    private static final Subject FST = new Subject("fst", "FST", "1");
    private static final Subject FORY = new Subject("fory", "Apache Fory", "1");

    @Test
    void memoryIsThatOfThePapersSerializers() {
        List<Figure> measured = List.of(held(KRYO, 2), held(FST, 3), held(FORY, 9));
        List<Figure> figures = new Comparisons(Map.of("kryo", KRYO, "fst", FST, "fory", FORY), measured, "three classes").figures();
        assertEquals(List.of("smallest", "largest"), figures.stream().map(figure -> figure.subject().library()).toList());
        assertEquals(List.of(2.0, 3.0), figures.stream().map(Figure::value).toList());
        assertEquals(List.of("one class", "one class"), figures.stream().map(Figure::options).toList());
    }

    private static Figure held(Subject subject, double value) {
        return Figure.of("smart-grid", "all", subject, "serialize", "held", "MB").value(value).options("one class");
    }
}
