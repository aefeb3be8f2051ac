package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import io.protostuff.JsonIOUtil;
import io.protostuff.LinkedBuffer;
import io.protostuff.Schema;

/** The JSON of Protostuff: the keys are the numbers of the fields, as in the paper. */
public final class JsonProtostuff extends ProtostuffSerializer {
    public JsonProtostuff(Model model) {
        super("json-protostuff", JsonIOUtil.class);
    }

    @Override
    <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception {
        return JsonIOUtil.toByteArray(message, schema, true, buffer);
    }

    @Override
    <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception {
        JsonIOUtil.mergeFrom(bytes, message, schema, true);
    }
}
