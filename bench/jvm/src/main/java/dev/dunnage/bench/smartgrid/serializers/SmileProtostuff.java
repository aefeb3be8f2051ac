package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import io.protostuff.LinkedBuffer;
import io.protostuff.Schema;
import io.protostuff.SmileIOUtil;

/** Smile by Protostuff, with the numbers of the fields as keys. */
public final class SmileProtostuff extends ProtostuffSerializer {
    public SmileProtostuff(Model model) {
        super("smile-protostuff", SmileIOUtil.class);
    }

    @Override
    <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception {
        return SmileIOUtil.toByteArray(message, schema, true, buffer);
    }

    @Override
    <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception {
        SmileIOUtil.mergeFrom(bytes, message, schema, true);
    }
}
