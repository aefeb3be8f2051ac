package dev.dunnage.bench;

import dev.dunnage.bench.mobile.MobileSuite;
import dev.dunnage.bench.record.ResultFile;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line: {@code run SUITE [--quick]}. */
@Command(name = "run", description = "Measures serialization libraries for the JVM.", subcommandsRepeatable = false,
        mixinStandardHelpOptions = true, synopsisSubcommandLabel = "(mobile | smart-grid)")
public final class Main {
    @Option(names = "--results", description = "The folder of the results; ${DEFAULT-VALUE} unless set.", scope = CommandLine.ScopeType.INHERIT,
            paramLabel = "DIR")
    private Path results = Path.of("..", "results");

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Command(description = "Book and Video in XML, JSON, Protobuf and Thrift.", mixinStandardHelpOptions = true)
    int mobile(@Option(names = "--quick", description = "One fork and a short warm-up.") boolean quick) throws Exception {
        return finish("mobile", new MobileSuite().run(quick));
    }

    private int finish(String suite, SuiteResult result) throws Exception {
        Path file = results.resolve(suite + ".jsonl");
        ResultFile.write(file, result.figures());
        System.err.printf("%s: %d figures%n", file, result.figures().size());
        return result.complete() ? 0 : 1;
    }
}
