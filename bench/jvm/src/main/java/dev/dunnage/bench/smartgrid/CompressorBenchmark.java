package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.smartgrid.compress.Compressor;
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

/** Compresses or decompresses all serialized messages once. The suite divides the figures by the number of messages. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CompressorBenchmark {
    /** The id of the serializer. */
    @Param("json-jackson")
    public String serializer;

    @Param("gzip")
    public String compressor;

    /** The names of the logical nodes, separated by spaces; empty for all. */
    @Param("MMXU")
    public String classes;

    @Param("CORE")
    public String fill;

    private Compressor library;
    private byte[][] plain;
    private byte[][] compressed;

    @Setup
    public void setUp() throws Exception {
        library = Compressor.named(compressor);
        plain = Messages.of(serializer, classes, fill).bytes;
        compressed = new byte[plain.length][];
        for (int i = 0; i < plain.length; i++) {
            compressed[i] = library.compress(plain[i]);
        }
    }

    @Benchmark
    public void compress(Blackhole sink) throws Exception {
        for (byte[] message : plain) {
            sink.consume(library.compress(message));
        }
    }

    @Benchmark
    public void decompress(Blackhole sink) throws Exception {
        for (int i = 0; i < plain.length; i++) {
            sink.consume(library.decompress(compressed[i], plain[i].length));
        }
    }
}
