package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Serializer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Serializes Book or Video to a file, in which the paper keeps XML and JSON, and deserializes it from there. */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FileBenchmark {
    /** The id of the serializer. */
    @Param("mobile-json")
    public String serializer;

    @Param("Book")
    public String object;

    private Serializer library;
    private Object message;
    private Path file;

    @Setup
    public void setUp() throws Exception {
        library = BookAndVideo.serializer(serializer);
        message = BookAndVideo.object(object);
        file = Files.createTempFile("mobile", null);
        serialize();
    }

    @TearDown
    public void removeFile() throws IOException {
        Files.delete(file);
    }

    @Benchmark
    public Path serialize() throws Exception {
        return Files.write(file, library.serialize(message));
    }

    @Benchmark
    public Object deserialize() throws Exception {
        return library.deserialize(Files.readAllBytes(file), message.getClass());
    }
}
