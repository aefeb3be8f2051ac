package dev.dunnage.bench.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Says what ran the benchmark. */
final class Environment {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    private Environment() {}

    /** The processor, the number of cores and the version of Java. */
    static String describe() {
        return "%s, %d cores, %s %s".formatted(
                processor(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.vm.name"),
                System.getProperty("java.vm.version"));
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            // Only Linux has the file.
            return System.getProperty("os.arch");
        }
    }
}
