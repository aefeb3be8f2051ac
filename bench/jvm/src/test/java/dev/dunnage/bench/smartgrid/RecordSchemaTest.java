package dev.dunnage.bench.smartgrid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.dunnage.bench.Harness;
import dev.dunnage.bench.Schedule;
import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import dev.dunnage.bench.record.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** The lines of the results and of the quoted figures fit bench/record.schema.json. */
class RecordSchemaTest {
    private static final Path BENCH = Path.of("..");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Subject SUBJECT = new Subject("json", "Jackson", "2");

    private final JsonSchema schema = schema();

    @Test
    void sizesFit() throws Exception {
        List<Figure> figures = new Sizes(SUBJECT, Messages.of("json-jackson", "MMXU", "CORE"), "fill: core").figures();
        assertEquals(12, figures.size(), "MMXU and the average, plain and from five compressors");
        for (Figure figure : figures) {
            assertFits(JSON.readTree(ResultFile.line(figure)));
        }
    }

    @Test
    void timesFit() throws Exception {
        Schedule shortest = new Schedule(0, 1, 10, 3, 10);
        var options = shortest.apply(new OptionsBuilder().include(SerializerBenchmark.class.getName() + ".serialize"));
        RunResult run = Harness.run(options.build()).iterator().next();
        Figure time = Figure.of("smart-grid", "MMXU", SUBJECT, Harness.operation(run), "ns", "ns");
        JsonNode record = JSON.readTree(ResultFile.line(Harness.mean(time, run.getPrimaryResult(), 1).options(shortest.toString())));
        assertFits(record);
        assertEquals(3, record.get("repetitions").asInt());
        assertEquals("99.9 % confidence interval", record.get("spread").get("of").asText());
    }

    @Test
    void failuresFit() throws Exception {
        SuiteResult result = new SuiteResult();
        result.fail("smart-grid", "average", SUBJECT, "round-trip", new IOException());
        assertFits(JSON.readTree(ResultFile.line(result.figures().get(0))));
        assertFalse(result.complete());
    }

    @Test
    void rejectsARecordWithoutEnvironment() throws Exception {
        Figure figure = Figure.of("mobile", "Book", SUBJECT, "serialize", "bytes", "B").value(1);
        ObjectNode record = (ObjectNode) JSON.readTree(ResultFile.line(figure));
        record.remove("environment");
        assertFalse(schema.validate(record).isEmpty());
    }

    @Test
    void replacesTheFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("mobile.jsonl");
        Figure figure = Figure.of("mobile", "Book", SUBJECT, "serialize", "bytes", "B").value(12);
        ResultFile.write(file, List.of(figure, figure));
        ResultFile.write(file, List.of(figure));
        assertEquals(List.of(ResultFile.line(figure)), Files.readAllLines(file));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mobile", "smart-grid"})
    void quotedFiguresFit(String suite) throws Exception {
        for (String line : Files.readAllLines(BENCH.resolve("papers").resolve(suite + ".jsonl"))) {
            JsonNode record = JSON.readTree(line);
            assertFits(record);
            assertEquals(suite, record.get("suite").asText());
            assertEquals("quoted", record.get("source").asText());
        }
    }

    private void assertFits(JsonNode record) {
        assertEquals(Set.of(), schema.validate(record), record.toString());
    }

    private static JsonSchema schema() {
        try {
            return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                    .getSchema(Files.readString(BENCH.resolve("record.schema.json")));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
