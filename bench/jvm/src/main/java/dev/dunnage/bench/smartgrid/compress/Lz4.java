package dev.dunnage.bench.smartgrid.compress;

import net.jpountz.lz4.LZ4Factory;

/** An LZ4 block by lz4-java, with its fastest implementation. The block does not contain its size. */
final class Lz4 implements Compressor {
    private final LZ4Factory factory = LZ4Factory.fastestInstance();

    @Override
    public String name() {
        return "lz4";
    }

    @Override
    public Class<?> library() {
        return LZ4Factory.class;
    }

    @Override
    public byte[] compress(byte[] bytes) {
        return factory.fastCompressor().compress(bytes);
    }

    @Override
    public byte[] decompress(byte[] compressed, int size) {
        return factory.safeDecompressor().decompress(compressed, size);
    }
}
