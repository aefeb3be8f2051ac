package dev.dunnage.bench.smartgrid;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** Serializes or deserializes all messages once. The suite divides the figures by the number of messages. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SerializerBenchmark {
    /** The id of the serializer. */
    @Param("json-jackson")
    public String serializer;

    /** The names of the logical nodes, separated by spaces; empty for all. */
    @Param("MMXU")
    public String classes;

    @Param("CORE")
    public String fill;

    private Messages messages;

    @Setup
    public void setUp() throws Exception {
        messages = Messages.of(serializer, classes, fill);
    }

    @Benchmark
    public void serialize(Blackhole sink) throws Exception {
        for (Object message : messages.objects) {
            sink.consume(messages.serializer.serialize(message));
        }
    }

    @Benchmark
    public void deserialize(Blackhole sink) throws Exception {
        for (int i = 0; i < messages.bytes.length; i++) {
            sink.consume(messages.serializer.deserialize(messages.bytes[i], messages.types[i]));
        }
    }
}
