package dev.dunnage.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Measures the Java libraries and their peers, prints a table with ratios, and writes bench/results/lang-java.jsonl. */
public final class Main {
    private static final Map<String, String> VERSIONS = Map.of("dunnage", "dev.dunnage/pson-core", "dunnage-jackson", "dev.dunnage/jackson-dataformat-pson",
        "msgpack-core", "org.msgpack/msgpack-core", "jackson-msgpack", "org.msgpack/jackson-dataformat-msgpack");

    private Main() {}

    /**
     * The figures of a payload, operation and library.
     *
     * @param times nanoseconds per message, of each round
     */
    private record Figure(String payload, String operation, Codec codec, double[] times, double allocated, int bytes) {
        double ns() {
            return median(times.clone());
        }

        /** This library's time divided by another's. Times of one round are compared, because the machine may be slower in the next. */
        double ratio(Figure other) {
            return median(IntStream.range(0, times.length).mapToDouble(round -> times[round] / other.times[round]).toArray());
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        int middle = values.length / 2;
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    public static void main(String[] arguments) throws RunnerException, IOException {
        boolean isQuick = List.of(arguments).contains("--quick");
        Path corpus = Path.of(System.getProperty("corpus"));
        List<Figure> figures = new ArrayList<>();
        for (String operation : List.of("encode", "decode")) {
            for (String payload : Payloads.NAMES) {
                figures.addAll(turns(operation, payload, isQuick, corpus));
            }
        }
        print(figures);
        write(figures, corpus.resolve("../results/lang-java.jsonl").normalize());
    }

    /** Measures all libraries, which take turns: in each round, each has a JVM of its own. */
    private static List<Figure> turns(String operation, String payload, boolean isQuick, Path corpus) throws RunnerException, IOException {
        int rounds = isQuick ? 1 : 5;
        OptionsBuilder options = new OptionsBuilder();
        options.include(Measured.class.getName() + "." + operation + "$").param("payload", payload).forks(1).warmupIterations(3).measurementIterations(3);
        options.warmupTime(TimeValue.milliseconds(isQuick ? 500 : 1000)).measurementTime(TimeValue.milliseconds(isQuick ? 300 : 500));
        options.jvmArgs("-Dcorpus=" + corpus, "-Xmx1g").addProfiler(GCProfiler.class).verbosity(VerboseMode.SILENT).shouldFailOnError(true);
        Map<Codec, List<RunResult>> results = new EnumMap<>(Codec.class);
        for (int round = 0; round < rounds; round++) {
            for (Codec codec : Codec.values()) {
                RunResult result = new Runner(new OptionsBuilder().parent(options.build()).param("codec", codec.name()).build()).runSingle();
                results.computeIfAbsent(codec, key -> new ArrayList<>()).add(result);
            }
        }
        List<Figure> figures = new ArrayList<>();
        for (Codec codec : Codec.values()) {
            figures.add(figure(operation, payload, codec, results.get(codec), corpus));
        }
        return figures;
    }

    private static Figure figure(String operation, String payload, Codec codec, List<RunResult> rounds, Path corpus) throws IOException {
        List<Object> values = Payloads.of(payload, corpus);
        int bytes = 0;
        for (Object value : values) {
            bytes += codec.encode(value).length;
        }
        int count = values.size();
        double[] times = rounds.stream().mapToDouble(round -> round.getPrimaryResult().getScore() / count).toArray();
        double[] allocated = rounds.stream().mapToDouble(round -> allocated(round) / count).toArray();
        return new Figure(payload, operation, codec, times, median(allocated), bytes / count);
    }

    @SuppressWarnings("rawtypes") // of JMH
    private static double allocated(RunResult result) {
        return result.getSecondaryResults().entrySet().stream().filter(e -> e.getKey().contains("alloc.rate.norm")).findFirst().orElseThrow().getValue().getScore();
    }

    private static void print(List<Figure> figures) {
        System.out.printf("%s, Java %s%nns and bytes allocated per message, medians of the rounds; in brackets, those of each library divided by ours%n", processor(), Runtime.version());
        for (Codec codec : Codec.values()) {
            System.out.printf("%s %s%n", codec.library, version(codec));
        }
        Map<String, List<Double>> means = new TreeMap<>();
        for (Figure figure : figures) {
            Codec ours = figure.codec.options.isEmpty() ? Codec.PSON_CORE : Codec.JACKSON_PSON;
            Figure own = figures.stream().filter(f -> f.codec == ours && f.payload.equals(figure.payload) && f.operation.equals(figure.operation)).findFirst().orElseThrow();
            double ratio = figure.ratio(own);
            means.computeIfAbsent(figure.operation + " " + figure.codec.library, key -> new ArrayList<>()).add(ratio);
            System.out.printf(Locale.ROOT, "%-8s %-10s %-16s %12.0f ns (%.2f) %12.0f B (%.2f)%n", figure.operation, figure.payload, figure.codec.library, figure.ns(), ratio,
                figure.allocated, figure.allocated / own.allocated);
        }
        means.forEach((name, ratios) -> System.out.printf(Locale.ROOT, "mean of %-24s %.2f%n", name,
            Math.exp(ratios.stream().mapToDouble(Math::log).average().orElseThrow())));
    }

    private static void write(List<Figure> figures, Path path) throws IOException {
        ObjectMapper json = new ObjectMapper();
        StringBuilder lines = new StringBuilder();
        for (Figure figure : figures) {
            lines.append(json.writeValueAsString(record(figure, "ns", figure.ns(), "ns"))).append('\n');
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
