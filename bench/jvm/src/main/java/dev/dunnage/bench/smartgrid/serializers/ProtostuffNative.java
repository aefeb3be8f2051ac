package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import io.protostuff.LinkedBuffer;
import io.protostuff.ProtostuffIOUtil;
import io.protostuff.Schema;

/** The format of Protostuff itself. */
public final class ProtostuffNative extends ProtostuffSerializer {
    public ProtostuffNative(Model model) {
        super("protostuff", ProtostuffIOUtil.class);
    }

    @Override
    <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception {
        return ProtostuffIOUtil.toByteArray(message, schema, buffer);
    }

    @Override
    <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception {
        ProtostuffIOUtil.mergeFrom(bytes, message, schema);
    }
}
