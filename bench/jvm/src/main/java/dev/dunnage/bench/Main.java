package dev.dunnage.bench;

import dev.dunnage.bench.mobile.MobileSuite;
import dev.dunnage.bench.record.ResultFile;
import dev.dunnage.bench.smartgrid.Fill;
import dev.dunnage.bench.smartgrid.Settings;
import dev.dunnage.bench.smartgrid.SmartGridSuite;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command line: {@code run SUITE [--quick]}. */
@Command(name = "run", description = "Measures serialization libraries for the JVM.", synopsisSubcommandLabel = "(mobile | smart-grid)")
public final class Main {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = CommandLine.ScopeType.INHERIT, description = "Shows this help.")
    private boolean help;

    @Option(names = "--results", description = "The folder of the results; ${DEFAULT-VALUE} unless set.", scope = CommandLine.ScopeType.INHERIT,
            paramLabel = "DIR")
    private Path results = Path.of("..", "results");

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(arguments));
    }

    @Command(description = "Book and Video in XML, JSON, Protobuf and Thrift.")
    int mobile(@Option(names = "--quick", description = "One fork and a short warm-up.") boolean quick) throws Exception {
        return finish("mobile", new MobileSuite().run(quick));
    }

    @Command(name = "smart-grid", description = "Logical nodes of IEC 61850 in all serializers.")
    int smartGrid(
            @Option(names = "--quick", description = "Three classes, one fork, a short warm-up.") boolean quick,
            @Option(names = "--fill", description = "mandatory, core or all fields; core unless set.", defaultValue = "core", paramLabel = "FILL") Fill fill,
            @Option(names = "--classes", description = "The logical nodes, such as MMXU,XCBR; all unless set.",
                            split = ",", paramLabel = "NAME")
                    List<String> classes)
            throws Exception {
        return finish("smart-grid", new SmartGridSuite(settings(quick, fill, classes == null ? List.of() : classes)).run());
    }

    private Settings settings(boolean quick, Fill fill, List<String> classes) {
        try {
            return new Settings(quick, fill, classes);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    private int finish(String suite, SuiteResult result) throws Exception {
        Path file = results.resolve(suite + ".jsonl");
        ResultFile.write(file, result.figures());
        System.err.printf("%s: %d figures%n", file, result.figures().size());
        return result.complete() ? 0 : 1;
    }
}
