package dev.dunnage.bench.smartgrid.compress;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** gzip by the JDK, at its default level. */
final class Gzip implements Compressor {
    @Override
    public String name() {
        return "gzip";
    }

    @Override
    public String inverse() {
        return "gunzip";
    }

    @Override
    public Class<?> library() {
        return GZIPOutputStream.class;
    }

    @Override
    public byte[] compress(byte[] bytes) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
            out.write(bytes);
        }
        return compressed.toByteArray();
    }

    @Override
    public byte[] decompress(byte[] compressed, int size) throws IOException {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
            return in.readAllBytes();
        }
    }
}
