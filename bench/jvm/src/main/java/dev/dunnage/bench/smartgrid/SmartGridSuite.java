package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Description;
import dev.dunnage.bench.Harness;
import dev.dunnage.bench.Schedule;
import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import dev.dunnage.bench.smartgrid.compress.Compressor;
import dev.dunnage.bench.smartgrid.messages.StandardMessages;
import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Repeats "Smart Grid Serialization Comparison". */
public final class SmartGridSuite {
    static final String NAME = "smart-grid";

    private static final String ALLOCATION = "gc.alloc.rate.norm";

    private final Settings settings;
    private final SuiteResult result = new SuiteResult();
    /** The serializers that work, by id. */
    private final Map<String, Subject> subjects = new LinkedHashMap<>();

    public SmartGridSuite(Settings settings) {
        this.settings = settings;
    }

    /** Measures the messages of other standards; checks every serializer, measures sizes, then times and memory. */
    public SuiteResult run() throws RunnerException {
        new StandardMessages(NAME).measure(result);
        for (String id : Registry.ids()) {
            check(id);
        }
        measureSerializers();
        new Memory(settings.ofMemory()).measure(subjects, result);
        result.addAll(new Comparisons(subjects, result.figures(), settings.describe()).figures());
        measureCompressors();
        return result;
    }

    private void check(String id) {
        Description description = Description.of(id);
        Subject subject = new Subject(description.format(), description.library(), null);
        try {
            Messages messages = Messages.of(id, settings.classNames(), settings.fill().name());
            subject = new Subject(description.format(), description.library(), messages.serializer.version());
            Check check = Check.of(id, settings.fill());
            System.err.printf("%s %s: round trip %.1f %%%n", subject.library(), subject.format(), check.percent());
            Figure percent = Figure.of(NAME, "all", subject, "round-trip", "round_trip", "%");
            result.add(percent.value(check.percent()).repeated(1, null).options(settings.fillOption()).note(check.loss()));
            if (check.loss() != null) {
                throw new IllegalStateException(check.loss());
            }
            result.addAll(new Sizes(subject, messages, settings.describe()).figures());
            checkDoubles(id, subject);
            subjects.put(id, subject);
        } catch (Exception | LinkageError e) {
            // A library that does not find what it needs on this JVM throws an error of linkage.
            result.fail(NAME, "average", subject, "round-trip", e);
        }
    }

    /** A loss of the last digits does not touch the logical nodes, so it is a figure and not a failure. */
    private void checkDoubles(String id, Subject subject) throws Exception {
        Figure percent = Figure.of(NAME, "random doubles", subject, "round-trip", "round_trip", "%");
        result.add(percent.value(Check.doubles(id)).repeated(1, null));
    }

    private void measureSerializers() throws RunnerException {
        Schedule schedule = settings.serializerSchedule();
        ChainedOptionsBuilder options = benchmark(SerializerBenchmark.class, schedule, List.copyOf(subjects.keySet()));
        Collection<RunResult> runs = Harness.run(options.addProfiler(GCProfiler.class).build());
        for (RunResult run : runs) {
            Subject subject = subjects.get(run.getParams().getParam("serializer"));
            String operation = Harness.operation(run);
            add(time(subject, operation, schedule), run.getPrimaryResult());
            Figure allocation = Figure.of(NAME, "average", subject, operation, "alloc", "B").options(options(schedule));
            add(allocation, run.getSecondaryResults().get(ALLOCATION));
        }
        reportMissing(runs, subjects.keySet(), "serialize");
    }

    private void measureCompressors() throws RunnerException {
        List<String> all = List.copyOf(subjects.keySet());
        for (Compressor compressor : Compressor.all()) {
            List<String> ids = new ArrayList<>(all);
            if (settings.quick() && !compressor.name().equals("gzip")) {
                ids.retainAll(Settings.QUICK_COMPRESSED);
            }
            measureCompressor(compressor, ids);
        }
    }

    private void measureCompressor(Compressor compressor, List<String> ids) throws RunnerException {
        Schedule schedule = settings.compressorSchedule();
        ChainedOptionsBuilder options = benchmark(CompressorBenchmark.class, schedule, ids).param("compressor", compressor.name());
        Collection<RunResult> runs = Harness.run(options.build());
        for (RunResult run : runs) {
            Subject subject = Sizes.compressed(subjects.get(run.getParams().getParam("serializer")), compressor);
            String operation = Harness.operation(run).equals("compress") ? compressor.name() : compressor.inverse();
            add(time(subject, operation, schedule), run.getPrimaryResult());
        }
        reportMissing(runs, ids, compressor.name());
    }

    private ChainedOptionsBuilder benchmark(Class<?> type, Schedule schedule, List<String> ids) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(type.getName())
                .param("serializer", ids.toArray(String[]::new))
                .param("classes", settings.classNames())
                .param("fill", settings.fill().name())
                .shouldFailOnError(false);
        return schedule.apply(options);
    }

    private Figure time(Subject subject, String operation, Schedule schedule) {
        return Figure.of(NAME, "average", subject, operation, "ns", "ns").options(options(schedule));
    }

    private String options(Schedule schedule) {
        return settings.describe() + "; " + schedule;
    }

    private void add(Figure figure, Result<?> measured) {
        result.add(Harness.mean(figure, measured, settings.messages()));
    }

    /** Records the serializers with fewer than two results, there and back. JMH has printed the reason. */
    private void reportMissing(Collection<RunResult> runs, Collection<String> ids, String operation) {
        for (String id : ids) {
            long present = runs.stream().filter(run -> run.getParams().getParam("serializer").equals(id)).count();
            if (present < 2) {
                Exception reason = new IllegalStateException("a benchmark stopped with an error, which the output of the run shows");
                result.fail(NAME, "average", subjects.get(id), operation, reason);
            }
        }
    }
}
