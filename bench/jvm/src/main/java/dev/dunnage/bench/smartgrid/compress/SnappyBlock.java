package dev.dunnage.bench.smartgrid.compress;

import java.io.IOException;
import org.xerial.snappy.Snappy;

/** A Snappy block by snappy-java. */
final class SnappyBlock implements Compressor {
    @Override
    public String name() {
        return "snappy";
    }

    @Override
    public Class<?> library() {
        return Snappy.class;
    }

    @Override
    public byte[] compress(byte[] bytes) throws IOException {
        return Snappy.compress(bytes);
    }

    @Override
    public byte[] decompress(byte[] compressed, int size) throws IOException {
        return Snappy.uncompress(compressed);
    }
}
