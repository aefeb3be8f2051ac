package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.protobuf.ProtobufMapper;
import com.fasterxml.jackson.dataformat.protobuf.schema.ProtobufSchema;
import dev.dunnage.bench.smartgrid.Model;
import java.util.HashMap;
import java.util.Map;

/** Protobuf by Jackson, with a schema that Jackson generates from each class. */
public final class ProtobufJackson extends Described {
    private final ProtobufMapper mapper = new ProtobufMapper();
    private final Map<Class<?>, ProtobufSchema> schemas = new HashMap<>();

    public ProtobufJackson(Model model) throws Exception {
        super("protobuf-jackson", ProtobufMapper.class);
        for (Class<?> type : model.logicalNodes()) {
            schemas.put(type, mapper.generateSchemaFor(type));
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
