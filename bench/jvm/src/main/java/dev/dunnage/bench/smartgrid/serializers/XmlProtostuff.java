package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import io.protostuff.LinkedBuffer;
import io.protostuff.Schema;
import io.protostuff.XmlIOUtil;

/** XML by Protostuff. */
public final class XmlProtostuff extends ProtostuffSerializer {
    public XmlProtostuff(Model model) {
        super("xml-protostuff", XmlIOUtil.class);
    }

    @Override
    <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception {
        return XmlIOUtil.toByteArray(message, schema);
    }

    @Override
    <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception {
        XmlIOUtil.mergeFrom(bytes, message, schema);
    }
}
