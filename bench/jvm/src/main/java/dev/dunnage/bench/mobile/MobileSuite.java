package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Difference;
import dev.dunnage.bench.Harness;
import dev.dunnage.bench.Schedule;
import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import dev.dunnage.bench.record.Spread;
import java.util.Collection;
import java.util.function.Predicate;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.util.Statistics;

/** Repeats "A Comparison of Data Serialization Formats For Optimal Efficiency on a Mobile Platform". */
public final class MobileSuite {
    private static final String SUITE = "mobile";
    private static final Schedule QUICK = new Schedule(1, 3, 300, 10, 80);
    private static final Schedule LONG = new Schedule(2, 6, 1000, 5, 1000);

    /** The iterations of the paper's batch mode. */
    private static final int BATCH = 1000;

    /** The results of a serializer: two objects, there and back. */
    private static final int RESULTS = 4;

    private final SuiteResult result = new SuiteResult();

    /** Measures sizes, then times. */
    public SuiteResult run(boolean quick) throws RunnerException {
        for (Serializer serializer : BookAndVideo.serializers()) {
            BookAndVideo.names().forEach(name -> measureSize(serializer, name));
        }
        measureTimes(quick ? QUICK : LONG);
        repeatPaperProcedure();
        return result;
    }

    private void measureSize(Serializer serializer, String name) {
        Object object = BookAndVideo.object(name);
        try {
            byte[] bytes = serializer.serialize(object);
            String difference = Difference.between(object, serializer.deserialize(bytes, object.getClass()));
            if (difference != null) {
                throw new IllegalStateException(difference);
            }
            result.add(figure(serializer, name, "serialize", "bytes", "B").value(bytes.length).repeated(1, null));
        } catch (Exception | LinkageError e) {
            result.fail(SUITE, name, subject(serializer), "serialize", e);
        }
    }

    private void measureTimes(Schedule schedule) throws RunnerException {
        Collection<RunResult> runs = Harness.run(schedule.apply(benchmarks()).build());
        for (RunResult run : runs) {
            result.add(Harness.mean(time(run), run.getPrimaryResult(), 1).options(schedule.toString()));
        }
        for (Serializer serializer : BookAndVideo.serializers()) {
            String id = serializer.description().id();
            long present = runs.stream().filter(run -> run.getParams().getParam("serializer").equals(id)).count();
            if (present < RESULTS) {
                Exception reason = new IllegalStateException("a benchmark stopped with an error, which the output of the run shows");
                result.fail(SUITE, "all", subject(serializer), "serialize", reason);
            }
        }
    }

    /** The procedure of section 5.3: two sets of a thousand iterations directly after each other, without a warm-up; the smaller mean. */
    private void repeatPaperProcedure() throws RunnerException {
        repeatPaperProcedure(benchmarks(), "the paper's procedure");
        String[] textual = ids(serializer -> serializer.description().encoding().equals("Text"));
        repeatPaperProcedure(benchmarks(FileBenchmark.class, textual), "the paper's procedure, with a file");
    }

    private void repeatPaperProcedure(ChainedOptionsBuilder benchmarks, String name) throws RunnerException {
        Schedule twoPasses = new Schedule(1, 0, 0, 2, 0);
        ChainedOptionsBuilder options = twoPasses.apply(benchmarks).mode(Mode.SingleShotTime).measurementBatchSize(BATCH);
        for (RunResult run : Harness.run(options.build())) {
            Statistics passes = run.getPrimaryResult().getStatistics();
            Spread spread = new Spread(passes.getMin() / BATCH, passes.getMax() / BATCH, "range of the two passes");
            result.add(time(run).value(passes.getMin() / BATCH).repeated(2, spread).options(name));
        }
    }

    private static ChainedOptionsBuilder benchmarks() {
        return benchmarks(MobileBenchmark.class, ids(serializer -> true));
    }

    private static ChainedOptionsBuilder benchmarks(Class<?> type, String[] serializers) {
        return new OptionsBuilder()
                .include("^" + type.getName() + "\\.")
                .param("serializer", serializers)
                .param("object", BookAndVideo.names().toArray(String[]::new))
                .shouldFailOnError(false);
    }

    private static String[] ids(Predicate<Serializer> chosen) {
        return BookAndVideo.serializers().stream()
                .filter(chosen)
                .map(serializer -> serializer.description().id())
                .toArray(String[]::new);
    }

    private static Figure time(RunResult run) {
        Serializer serializer = BookAndVideo.serializer(run.getParams().getParam("serializer"));
        return figure(serializer, run.getParams().getParam("object"), Harness.operation(run), "ns", "ns");
    }

    private static Figure figure(Serializer serializer, String name, String operation, String metric, String unit) {
        return Figure.of(SUITE, name, subject(serializer), operation, metric, unit);
    }

    private static Subject subject(Serializer serializer) {
        return new Subject(serializer.description().format(), serializer.description().library(), serializer.version());
    }
}
