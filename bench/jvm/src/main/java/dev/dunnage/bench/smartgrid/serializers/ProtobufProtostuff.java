package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import io.protostuff.LinkedBuffer;
import io.protostuff.ProtobufIOUtil;
import io.protostuff.Schema;

/** Protobuf by Protostuff. */
public final class ProtobufProtostuff extends ProtostuffSerializer {
    public ProtobufProtostuff(Model model) {
        super("protobuf-protostuff", ProtobufIOUtil.class);
    }

    @Override
    <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception {
        return ProtobufIOUtil.toByteArray(message, schema, buffer);
    }

    @Override
    <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception {
        ProtobufIOUtil.mergeFrom(bytes, message, schema);
    }
}
