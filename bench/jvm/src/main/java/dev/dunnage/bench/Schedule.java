package dev.dunnage.bench;

import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * How long JMH runs each benchmark. A fork is a JVM of its own; zero forks measure in this JVM.
 *
 * @param warmup the duration of an iteration of the warm-up, in milliseconds
 * @param measurement the duration of a measured iteration, in milliseconds
 */
public record Schedule(int forks, int warmups, int warmup, int measurements, int measurement) {
    /** Applies the schedule to the options of a run. */
    public ChainedOptionsBuilder apply(ChainedOptionsBuilder options) {
        return options.forks(forks)
                .warmupIterations(warmups)
                .warmupTime(TimeValue.milliseconds(warmup))
                .measurementIterations(measurements)
                .measurementTime(TimeValue.milliseconds(measurement));
    }

    /** The schedule as the option of a figure. */
    @Override
    public String toString() {
        return "JMH, forks: %d, warm-up: %d x %d ms, measured: %d x %d ms".formatted(forks, warmups, warmup, measurements, measurement);
    }
}
