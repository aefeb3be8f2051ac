package dev.dunnage.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Measures the Java libraries beside their peers, prints a table with ratios, and writes bench/results/lang-java.jsonl. */
public final class Main {
    private static final Map<String, String> VERSIONS = Map.of("dunnage", "dev.dunnage/pson-core", "dunnage-jackson", "dev.dunnage/jackson-dataformat-pson",
        "msgpack-core", "org.msgpack/msgpack-core", "jackson-msgpack", "org.msgpack/jackson-dataformat-msgpack");

    private Main() {}

    /** The figures of a payload, operation and library. */
    private record Figure(String payload, String operation, Codec codec, double ns, double error, double allocated, int bytes) {}

    public static void main(String[] arguments) throws RunnerException, IOException {
        boolean isQuick = List.of(arguments).contains("--quick");
        Path corpus = Path.of(System.getProperty("corpus"));
        OptionsBuilder options = new OptionsBuilder();
        options.include(Measured.class.getName()).forks(isQuick ? 1 : 3).warmupIterations(3).measurementIterations(isQuick ? 3 : 5);
        options.warmupTime(TimeValue.milliseconds(500)).measurementTime(TimeValue.milliseconds(isQuick ? 300 : 1000));
        options.jvmArgs("-Dcorpus=" + corpus, "-Xmx1g").addProfiler(GCProfiler.class).verbosity(VerboseMode.SILENT).shouldFailOnError(true);
        List<Figure> figures = new ArrayList<>();
        for (RunResult result : new Runner(options.build()).run()) {
            figures.add(figure(result, corpus));
        }
        print(figures);
        write(figures, corpus.resolve("../results/lang-java.jsonl").normalize());
    }

    private static Figure figure(RunResult result, Path corpus) throws IOException {
        String payload = result.getParams().getParam("payload");
        Codec codec = Codec.valueOf(result.getParams().getParam("codec"));
        List<Object> values = Payloads.of(payload, corpus);
        int bytes = 0;
        for (Object value : values) {
            bytes += codec.encode(value).length;
        }
        Result<?> time = result.getPrimaryResult();
        double allocated = result.getSecondaryResults().entrySet().stream().filter(e -> e.getKey().contains("alloc.rate.norm")).findFirst().orElseThrow().getValue().getScore();
        int count = values.size();
        double error = Double.isFinite(time.getScoreError()) ? time.getScoreError() : 0;
        return new Figure(payload, time.getLabel(), codec, time.getScore() / count, error / count, allocated / count, bytes / count);
    }

    private static void print(List<Figure> figures) {
        System.out.printf("%s, Java %s%nns and bytes allocated per message; in brackets, those of each library divided by ours%n", processor(), Runtime.version());
        for (Codec codec : Codec.values()) {
            System.out.printf("%s %s%n", codec.library, version(codec));
        }
        Map<String, List<Double>> means = new TreeMap<>();
        for (Figure figure : figures) {
            Codec ours = figure.codec.options.isEmpty() ? Codec.PSON_CORE : Codec.JACKSON_PSON;
            Figure own = figures.stream().filter(f -> f.codec == ours && f.payload.equals(figure.payload) && f.operation.equals(figure.operation)).findFirst().orElseThrow();
            double ratio = figure.ns / own.ns;
            means.computeIfAbsent(figure.operation + " " + figure.codec.library, key -> new ArrayList<>()).add(ratio);
            System.out.printf(Locale.ROOT, "%-8s %-10s %-16s %12.0f ns (%.2f) %12.0f B (%.2f)%n", figure.operation, figure.payload, figure.codec.library, figure.ns, ratio,
                figure.allocated, figure.allocated / own.allocated);
        }
        means.forEach((name, ratios) -> System.out.printf(Locale.ROOT, "mean of %-24s %.2f%n", name,
            Math.exp(ratios.stream().mapToDouble(Math::log).average().orElseThrow())));
    }

    private static void write(List<Figure> figures, Path path) throws IOException {
        ObjectMapper json = new ObjectMapper();
        StringBuilder lines = new StringBuilder();
        for (Figure figure : figures) {
            lines.append(json.writeValueAsString(record(figure, "ns", figure.ns, "ns"))).append('\n');
            lines.append(json.writeValueAsString(record(figure, "alloc", figure.allocated, "bytes"))).append('\n');
            if (figure.operation.equals("encode")) {
                lines.append(json.writeValueAsString(record(figure, "bytes", figure.bytes, "bytes"))).append('\n');
            }
        }
        Files.createDirectories(path.getParent());
        Files.writeString(path, lines);
        System.out.println(path.getFileName() + ": " + lines.chars().filter(c -> c == '\n').count() + " records");
    }

    private static Map<String, Object> record(Figure figure, String metric, double value, String unit) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("record", 1);
        record.put("suite", "lang-java");
        record.put("target", "jvm");
        record.put("payload", figure.payload);
        record.put("format", figure.codec.format);
        record.put("library", figure.codec.library);
        record.put("version", version(figure.codec));
        record.put("operation", figure.operation);
        record.put("metric", metric);
        record.put("value", Math.round(value * 10) / 10.0);
        record.put("unit", unit);
        record.put("environment", processor() + ", Java " + Runtime.version());
        if (!figure.codec.options.isEmpty()) {
            record.put("options", figure.codec.options);
        }
        record.put("source", "measured");
        return record;
    }

    /** The version that the library's jar tells, or that of this project. */
    private static String version(Codec codec) {
        String artifact = VERSIONS.getOrDefault(codec.library, switch (codec) {
            case JACKSON_CBOR -> "com.fasterxml.jackson.dataformat/jackson-dataformat-cbor";
            case JACKSON_SMILE -> "com.fasterxml.jackson.dataformat/jackson-dataformat-smile";
            default -> "com.fasterxml.jackson.core/jackson-databind";
        });
        try (var in = Main.class.getResourceAsStream("/META-INF/maven/" + artifact + "/pom.properties")) {
            Properties properties = new Properties();
            if (in != null) {
                properties.load(in);
            }
            return properties.getProperty("version", codec.library.startsWith("dunnage") ? "0.1.0" : jar(artifact));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The version in the name of the jar on the class path. */
    private static String jar(String artifact) {
        String name = artifact.substring(artifact.indexOf('/') + 1) + "-";
        for (String path : System.getProperty("java.class.path").split(":")) {
            String file = Path.of(path).getFileName().toString();
            if (file.startsWith(name) && file.endsWith(".jar")) {
                return file.substring(name.length(), file.length() - 4);
            }
        }
        return "unknown";
    }

    private static String processor() {
        try {
            return Files.lines(Path.of("/proc/cpuinfo")).filter(line -> line.startsWith("model name")).findFirst().map(line -> line.substring(line.indexOf(':') + 2)).orElse("?")
                + ", " + Runtime.getRuntime().availableProcessors() + " cores";
        } catch (IOException e) {
            return "an unknown processor";
        }
    }
}
