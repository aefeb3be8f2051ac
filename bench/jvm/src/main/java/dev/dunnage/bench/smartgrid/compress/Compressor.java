package dev.dunnage.bench.smartgrid.compress;

import java.util.List;

/** A compressor of serialized messages. Each message is compressed alone. */
public interface Compressor {
    /** The compressor's name, as in the format of the results: json+gzip. */
    String name();

    /** The name of the way back, as in the operation of the results. */
    default String inverse() {
        return "un" + name();
    }

    /** A class of the library; the file that contains it tells the version. */
    Class<?> library();

    byte[] compress(byte[] bytes) throws Exception;

    /** Restores {@code size} bytes. */
    byte[] decompress(byte[] compressed, int size) throws Exception;

    /** gzip as in the paper, then those that are newer or faster. */
    static List<Compressor> all() {
        return List.of(new Gzip(), new Zstandard(), new Brotli(), new Lz4(), new SnappyBlock());
    }

    /** The compressor with this name. */
    static Compressor named(String name) {
        return all().stream()
                .filter(compressor -> compressor.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + ": no such compressor"));
    }
}
