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
import picocli.CommandLine.Option;

/** The command line: {@code run SUITE [--quick]}. */
@Command(name = "run", description = "Measures serialization libraries for the JVM.", subcommandsRepeatable = false,
        mixinStandardHelpOptions = true, synopsisSubcommandLabel = "(mobile | smart-grid)")
public final class Main {
    @Option(names = "--results", description = "The folder of the results; ${DEFAULT-VALUE} unless set.", scope = CommandLine.ScopeType.INHERIT,
            paramLabel = "DIR")
    private Path results = Path.of("..", "results");

    public static void main(String[] arguments) {
        CommandLine command = new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
        command.setExecutionExceptionHandler(Main::report);
        System.exit(command.execute(arguments));
    }

    /** A mistake of the user needs no stack trace. */
    private static int report(Exception e, CommandLine command, CommandLine.ParseResult arguments) throws Exception {
        if (!(e instanceof IllegalArgumentException)) {
            throw e;
        }
        System.err.println(e.getMessage());
        return CommandLine.ExitCode.USAGE;
    }

    @Command(description = "Book and Video in XML, JSON, Protobuf and Thrift.", mixinStandardHelpOptions = true)
    int mobile(@Option(names = "--quick", description = "One fork and a short warm-up.") boolean quick) throws Exception {
        return finish("mobile", new MobileSuite().run(quick));
    }

    @Command(name = "smart-grid", description = "Logical nodes of IEC 61850 in all serializers.", mixinStandardHelpOptions = true)
    int smartGrid(
            @Option(names = "--quick", description = "Three classes, one fork, a short warm-up.") boolean quick,
            @Option(names = "--fill", description = "mandatory, core or all fields; core unless set.", defaultValue = "core") Fill fill,
            @Option(names = "--classes", description = "The logical nodes, such as MMXU,XCBR; all unless set.", split = ",")
                    List<String> classes)
            throws Exception {
        Settings settings = new Settings(quick, fill, classes == null ? List.of() : classes);
        return finish("smart-grid", new SmartGridSuite(settings).run());
    }

    private int finish(String suite, SuiteResult result) throws Exception {
        Path file = results.resolve(suite + ".jsonl");
        ResultFile.write(file, result.figures());
        System.err.printf("%s: %d figures%n", file, result.figures().size());
        return result.complete() ? 0 : 1;
    }
}
