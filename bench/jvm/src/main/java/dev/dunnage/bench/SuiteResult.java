package dev.dunnage.bench;

import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.util.ArrayList;
import java.util.List;

/** The figures of a suite, with a figure of the metric "failed" for each library that could not be measured. */
public final class SuiteResult {
    private final List<Figure> figures = new ArrayList<>();
    private int failures;

    public void add(Figure figure) {
        figures.add(figure);
    }

    public void addAll(List<Figure> more) {
        figures.addAll(more);
    }

    /** Records that a library failed at an operation, and prints the reason. */
    public void fail(String suite, String payload, Subject subject, String operation, Throwable reason) {
        failures++;
        // Further lines are source code or a trace.
        String note = reason.toString().lines().findFirst().orElseThrow();
        System.err.printf("failed: %s %s, %s of %s: %s%n", subject.library(), subject.format(), operation, payload, note);
        figures.add(Figure.of(suite, payload, subject, operation, "failed", "1").value(1).note(note));
    }

    public List<Figure> figures() {
        return figures;
    }

    public boolean complete() {
        return failures == 0;
    }
}
