package dev.dunnage.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The table of characteristics and the program have the same serializers. */
class DescriptionTest {
    @Test
    void eachSerializerHasARow() {
        var rows = Description.all().stream().filter(row -> row.suite().equals("smart-grid")).map(Description::id).toList();
        assertEquals(Registry.ids(), rows);
    }

    @Test
    void thePapersTableIsComplete() {
        long rows = Description.all().stream()
                .filter(row -> row.suite().equals("smart-grid"))
                .map(Description::paper)
                .filter(Objects::nonNull)
                .distinct()
                .count();
        assertEquals(24, rows);
    }
}
