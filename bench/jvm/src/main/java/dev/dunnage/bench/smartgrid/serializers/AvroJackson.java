package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.avro.AvroMapper;
import com.fasterxml.jackson.dataformat.avro.AvroSchema;
import dev.dunnage.bench.smartgrid.Model;
import java.util.HashMap;
import java.util.Map;

/** Avro by Jackson, with a schema that Jackson generates from each class. */
public final class AvroJackson extends Described {
    private final AvroMapper mapper = new AvroMapper();
    private final Map<Class<?>, AvroSchema> schemas = new HashMap<>();

    public AvroJackson(Model model) throws Exception {
        super("avro-jackson", AvroMapper.class);
        for (Class<?> type : model.logicalNodes()) {
            schemas.put(type, mapper.schemaFor(type));
        }
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        return mapper.writer(schemas.get(message.getClass())).writeValueAsBytes(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return mapper.readerFor(type).with(schemas.get(type)).readValue(bytes);
    }
}
