package dev.dunnage.bench;

import java.io.OutputStream;
import java.io.PrintStream;

/** Prints the lines of JMH that tell the progress, the time left and errors, and drops the others. */
final class Progress extends PrintStream {
    private final PrintStream shown;
    private boolean inFailure;

    Progress(PrintStream out) {
        super(OutputStream.nullOutputStream());
        shown = out;
    }

    @Override
    public void println(String line) {
        if (line.startsWith("<failure>")) {
            inFailure = true;
        } else if (line.isBlank()) {
            inFailure = false;
        }
        if (inFailure || line.startsWith("# Run progress") || line.startsWith("# Benchmark:") || line.startsWith("# Parameters:")) {
            shown.println(line);
        }
    }
}
