package dev.dunnage.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

/** Encodes and decodes all messages of a payload. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Measured {
    @Param("paper")
    public String payload;

    @Param("PSON_CORE")
    public String codec;

    private Codec of;
    private List<Object> values;
    private List<byte[]> messages;

    /** Reads the messages, and checks that the codec returns them. */
    @Setup
    public void read() throws IOException {
        of = Codec.valueOf(codec);
        values = Payloads.of(payload, Path.of(System.getProperty("corpus")));
        messages = new ArrayList<>();
        for (Object value : values) {
            byte[] message = of.encode(value);
            if (!java.util.Arrays.equals(of.encode(of.decode(message)), message)) {
                throw new IllegalStateException(codec + " changes " + value);
            }
            messages.add(message);
        }
    }

    @Benchmark
    public void encode(Blackhole hole) throws IOException {
        for (Object value : values) {
            hole.consume(of.encode(value));
        }
    }

    @Benchmark
    public void decode(Blackhole hole) throws IOException {
        for (byte[] message : messages) {
            hole.consume(of.decode(message));
        }
    }
}
