package dev.dunnage.bench.smartgrid.serializers;

import com.owlike.genson.Genson;
import com.owlike.genson.GensonBuilder;
import dev.dunnage.bench.smartgrid.Model;

/** JSON by Genson. */
public final class JsonGenson extends Described {
    private final Genson genson = new GensonBuilder().setSkipNull(true).useDateAsTimestamp(true).create();

    public JsonGenson(Model model) {
        super("json-genson", Genson.class);
    }

    @Override
    public byte[] serialize(Object message) {
        return genson.serializeBytes(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return genson.deserialize(bytes, type);
    }
}
