package dev.dunnage.bench.record;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** Writes the figures of a suite, a JSON object per line. */
public final class ResultFile {
    /** The version of the format. */
    private static final int RECORD_VERSION = 1;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ENVIRONMENT = Environment.describe();

    private ResultFile() {}

    /** Writes the figures as the whole content of the file. Readers see the old or the new content, never a part. */
    public static void write(Path file, List<Figure> figures) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        Files.createDirectories(folder);
        Path unfinished = folder.resolve(file.getFileName() + ".unfinished");
        Files.write(unfinished, figures.stream().map(ResultFile::line).toList());
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** A figure as a line of the file. */
    public static String line(Figure figure) {
        ObjectNode record = JSON.createObjectNode();
        record.put("record", RECORD_VERSION);
        record.put("suite", figure.suite());
        record.put("target", "jvm");
        record.put("payload", figure.payload());
        record.put("format", figure.subject().format());
        record.put("library", figure.subject().library());
        if (figure.subject().version() != null) {
            record.put("version", figure.subject().version());
        }
        record.put("operation", figure.operation());
        record.put("metric", figure.metric());
        putShort(record, "value", figure.value());
        record.put("unit", figure.unit());
        if (figure.repetitions() != null) {
            record.put("repetitions", figure.repetitions());
        }
        if (figure.spread() != null) {
            ObjectNode spread = record.putObject("spread");
            putShort(spread, "low", figure.spread().low());
            putShort(spread, "high", figure.spread().high());
            spread.put("of", figure.spread().of());
        }
        record.put("environment", ENVIRONMENT);
        if (figure.options() != null) {
            record.put("options", figure.options());
        }
        record.put("source", "measured");
        if (figure.note() != null) {
            record.put("note", figure.note());
        }
        return record.toString();
    }

    /** Writes 12 rather than 12.0. */
    private static void putShort(ObjectNode record, String name, double value) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(name + ": " + value + " is not a finite number");
        }
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            record.put(name, (long) value);
        } else {
            record.put(name, value);
        }
    }
}
