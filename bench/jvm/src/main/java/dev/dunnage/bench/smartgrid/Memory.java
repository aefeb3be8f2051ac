package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The memory that serializers hold after the paper's 1000 runs: starts {@link MemoryProbe} in a fresh JVM for each. */
final class Memory {
    /** A context per message keeps nothing. */
    static final String LEFT_OUT = "xml-jaxb-uncached";

    private static final double MEGABYTE = 1e6;

    /** JVMs that run at the same time: they measure bytes, which other processes do not change. */
    private static final int PARALLEL = Math.min(2, Runtime.getRuntime().availableProcessors());

    /** The garbage of a message, at most, and the heap besides, in mebibytes. */
    private static final int GARBAGE = 6;

    private static final int BESIDES = 200;

    private final Settings settings;
    private final List<String> options;

    Memory(Settings settings) {
        this.settings = settings;
        this.options = options(settings.messages());
    }

    /**
     * A collector that collects when asked to, and counts every object: no thread reserves memory in advance. The young generation has room for
     * the garbage of a run. The second compiler removes objects once it is done, so without it a figure does not depend on the time.
     */
    private static List<String> options(int messages) {
        int young = BESIDES / 2 + GARBAGE * messages;
        int heap = BESIDES + GARBAGE * messages;
        return List.of("-XX:+UseSerialGC", "-XX:-UseTLAB", "-XX:TieredStopAtLevel=1", "-Xms" + heap + "m", "-Xmx" + heap + "m", "-Xmn" + young + "m");
    }

    /** Adds the figures of all serializers to the result, and a failure for each that stops. */
    void measure(Map<String, Subject> subjects, SuiteResult result) {
        ExecutorService pool = Executors.newFixedThreadPool(PARALLEL);
        Map<String, Future<List<Figure>>> running = new LinkedHashMap<>();
        subjects.forEach((id, subject) -> {
            if (!id.equals(LEFT_OUT)) {
                running.put(id, pool.submit(() -> figures(id, subject)));
            }
        });
        running.forEach((id, figures) -> {
            try {
                result.addAll(figures.get());
                System.err.printf("memory: %s%n", id);
            } catch (ExecutionException e) {
                result.fail(SmartGridSuite.NAME, "all", subjects.get(id), "serialize", e.getCause());
            } catch (InterruptedException e) {
                throw new IllegalStateException("nothing interrupts the suite", e);
            }
        });
        pool.shutdown();
    }

    /** The figures of a serializer. Throws an exception with the reason that the JVM prints if it fails. */
    private List<Figure> figures(String id, Subject subject) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command(id)).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            String reason = errors.lines().filter(line -> line.contains("Exception") || line.contains("Error")).findFirst().orElse(errors);
            throw new IOException("the JVM that measures memory stopped: " + reason);
        }
        List<Figure> figures = new ArrayList<>();
        for (String line : output.lines().toList()) {
            String[] words = line.split(" ");
            figures.add(figure(subject, words[0], "held", words[1]));
            figures.add(figure(subject, words[0], "live", words[2]));
            figures.add(figure(subject, words[0], "metaspace", words[3]));
        }
        return figures;
    }

    private List<String> command(String id) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MemoryProbe.class.getName(), id, settings.fill().name()));
        command.addAll(settings.classes());
        return command;
    }

    private Figure figure(Subject subject, String operation, String metric, String bytes) {
        String described = "%s; runs: %d; %s".formatted(settings.describe(), MemoryProbe.RUNS, String.join(" ", options));
        return Figure.of(SmartGridSuite.NAME, "all", subject, operation, metric, "MB")
                .value(Long.parseLong(bytes) / MEGABYTE)
                .repeated(1, null)
                .options(described);
    }
}
