package dev.dunnage.bench;

import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Spread;
import java.util.Collection;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/** Runs benchmarks with JMH and makes figures of their results. */
public final class Harness {
    private static final double CONFIDENCE = 0.999;

    private Harness() {}

    /** Runs the benchmarks and prints their progress. A benchmark that throws has no result; the others run. */
    public static Collection<RunResult> run(Options options) throws RunnerException {
        var output = OutputFormatFactory.createFormatInstance(new Progress(System.err), VerboseMode.NORMAL);
        return new Runner(options, output).run();
    }

    /** The name of the benchmark's method. */
    public static String operation(RunResult result) {
        String name = result.getParams().getBenchmark();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** Returns {@code figure} with the mean of the result, divided by {@code operations}, and its confidence interval. */
    public static Figure mean(Figure figure, Result<?> result, double operations) {
        Statistics statistics = result.getStatistics();
        Figure mean = figure.value(statistics.getMean() / operations);
        // The interval of fewer than three measurements is undefined or boundless.
        if (statistics.getN() < 3) {
            return mean.repeated(statistics.getN(), null);
        }
        double[] interval = statistics.getConfidenceIntervalAt(CONFIDENCE);
        Spread spread = new Spread(interval[0] / operations, interval[1] / operations, "99.9 % confidence interval");
        return mean.repeated(statistics.getN(), spread);
    }
}
