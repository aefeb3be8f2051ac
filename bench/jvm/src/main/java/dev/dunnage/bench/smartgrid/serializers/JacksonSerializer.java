package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

/** A format of Jackson 2. Absent values are left out, and times are milliseconds since 1970. */
abstract class JacksonSerializer extends Described {
    private final ObjectMapper mapper;

    JacksonSerializer(String id, Class<?> library, ObjectMapper mapper) {
        super(id, library);
        this.mapper = mapper.setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL)
                .enable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS);
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        return mapper.writeValueAsBytes(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return mapper.readValue(bytes, type);
    }
}
