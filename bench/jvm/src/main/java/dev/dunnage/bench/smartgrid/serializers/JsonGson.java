package dev.dunnage.bench.smartgrid.serializers;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import dev.dunnage.bench.smartgrid.Model;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Date;

/** JSON by Gson. */
public final class JsonGson extends Described {
    private final Gson gson =
            new GsonBuilder().registerTypeAdapter(Date.class, new Milliseconds().nullSafe()).create();

    public JsonGson(Model model) {
        super("json-gson", Gson.class);
    }

    @Override
    public byte[] serialize(Object message) {
        return gson.toJson(message).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return gson.fromJson(new String(bytes, StandardCharsets.UTF_8), type);
    }

    /** Writes a time as milliseconds since 1970. */
    private static final class Milliseconds extends TypeAdapter<Date> {
        @Override
        public void write(JsonWriter out, Date date) throws IOException {
            out.value(date.getTime());
        }

        @Override
        public Date read(JsonReader in) throws IOException {
            return new Date(in.nextLong());
        }
    }
}
