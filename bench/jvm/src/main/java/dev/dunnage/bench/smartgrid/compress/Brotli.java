package dev.dunnage.bench.smartgrid.compress;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.Decoder;
import com.aayushatharva.brotli4j.encoder.Encoder;
import java.io.IOException;

/** Brotli by brotli4j, at its default quality, the highest. */
final class Brotli implements Compressor {
    static {
        Brotli4jLoader.ensureAvailability();
    }

    @Override
    public String name() {
        return "brotli";
    }

    @Override
    public Class<?> library() {
        return Encoder.class;
    }

    @Override
    public byte[] compress(byte[] bytes) throws IOException {
        return Encoder.compress(bytes);
    }

    @Override
    public byte[] decompress(byte[] compressed, int size) throws IOException {
        return Decoder.decompress(compressed).getDecompressedData();
    }
}
