package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Serializer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Serializes and deserializes Book or Video in memory. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MobileBenchmark {
    /** The id of the serializer. */
    @Param("mobile-json")
    public String serializer;

    @Param("Book")
    public String object;

    private Serializer library;
    private Object message;
    private byte[] bytes;

    @Setup
    public void setUp() throws Exception {
        library = BookAndVideo.serializer(serializer);
        message = BookAndVideo.object(object);
        bytes = library.serialize(message);
    }

    @Benchmark
    public byte[] serialize() throws Exception {
        return library.serialize(message);
    }

    @Benchmark
    public Object deserialize() throws Exception {
        return library.deserialize(bytes, message.getClass());
    }
}
