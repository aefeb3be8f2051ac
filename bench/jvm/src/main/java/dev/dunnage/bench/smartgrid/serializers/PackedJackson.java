package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.dunnage.bench.smartgrid.Model;
import dev.dunnage.packed.JacksonLayout;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** Packed from and to trees of Jackson 2, with a layout for each class. Times are milliseconds since 1970. */
public final class PackedJackson extends Described {
    private final ObjectMapper mapper = new ObjectMapper()
            .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL)
            .enable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .registerModule(new SimpleModule().addSerializer(Float.class, new Decimal()));

    private final Map<Class<?>, JacksonLayout> layouts = new HashMap<>();

    public PackedJackson(Model model) {
        super("packed-jackson", JacksonLayout.class);
        model.logicalNodes().forEach(type -> layouts.put(type, new JacksonLayout(PackedLayouts.of(type))));
    }

    @Override
    public byte[] serialize(Object message) {
        return layouts.get(message.getClass()).encode(mapper.valueToTree(message));
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return mapper.treeToValue(layouts.get(type).decode(bytes), type);
    }

    /** Passes a binary32 as the decimal that JSON has for it, which takes fewer bits than its exact value. */
    private static final class Decimal extends JsonSerializer<Float> {
        @Override
        public void serialize(Float value, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeNumber(Double.parseDouble(value.toString()));
        }
    }
}
