package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.core.FormatSchema;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.avro.AvroMapper;
import com.fasterxml.jackson.dataformat.protobuf.ProtobufMapper;
import dev.dunnage.bench.smartgrid.Model;
import java.util.HashMap;
import java.util.Map;

/** A binary format by Jackson, with a schema that Jackson generates from each class. */
public final class GeneratedSchema extends Described {
    private final ObjectMapper mapper;
    private final Map<Class<?>, FormatSchema> schemas = new HashMap<>();

    private GeneratedSchema(String id, ObjectMapper mapper, Generator generator, Model model) throws Exception {
        super(id, mapper.getClass());
        this.mapper = mapper;
        for (Class<?> type : model.logicalNodes()) {
            schemas.put(type, generator.generate(type));
        }
    }

    static GeneratedSchema avro(Model model) throws Exception {
        AvroMapper mapper = new AvroMapper();
        return new GeneratedSchema("avro-jackson", mapper, mapper::schemaFor, model);
    }

    static GeneratedSchema protobuf(Model model) throws Exception {
        ProtobufMapper mapper = new ProtobufMapper();
        return new GeneratedSchema("protobuf-jackson", mapper, mapper::generateSchemaFor, model);
    }

    private interface Generator {
        FormatSchema generate(Class<?> type) throws Exception;
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
