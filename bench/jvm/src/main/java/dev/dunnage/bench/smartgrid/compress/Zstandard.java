package dev.dunnage.bench.smartgrid.compress;

import com.github.luben.zstd.Zstd;

/** Zstandard by zstd-jni, at its default level. */
final class Zstandard implements Compressor {
    @Override
    public String name() {
        return "zstd";
    }

    @Override
    public Class<?> library() {
        return Zstd.class;
    }

    @Override
    public byte[] compress(byte[] bytes) {
        return Zstd.compress(bytes);
    }

    @Override
    public byte[] decompress(byte[] compressed, int size) {
        return Zstd.decompress(compressed, size);
    }
}
