package dev.dunnage.bench.smartgrid.serializers;

import com.alibaba.fastjson2.JSONB;
import com.alibaba.fastjson2.JSONReader;
import com.alibaba.fastjson2.JSONWriter;
import dev.dunnage.bench.smartgrid.Model;

/** JSONB by fastjson2, with the names of the fields. */
public final class JsonbFastjson2 extends Described {
    public JsonbFastjson2(Model model) {
        super("jsonb-fastjson2", JSONB.class);
    }

    @Override
    public byte[] serialize(Object message) {
        return JSONB.toBytes(message, JSONWriter.Feature.FieldBased);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return JSONB.parseObject(bytes, type, JSONReader.Feature.FieldBased);
    }
}
