package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.MapperBuilder;

/** A format of Jackson 3. Absent values are left out, and times are milliseconds since 1970. */
abstract class Jackson3Serializer extends Described {
    private final ObjectMapper mapper;

    Jackson3Serializer(String id, Class<?> library, MapperBuilder<?, ?> builder) {
        super(id, library);
        mapper = builder.changeDefaultPropertyInclusion(value -> value.withValueInclusion(JsonInclude.Include.NON_NULL))
                .enable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
                .build();
    }

    /** Makes the builder write the objects of these classes as arrays, without the names of their fields. */
    static <B extends MapperBuilder<?, B>> B asArrays(B builder, Model model) {
        model.types().stream()
                .filter(type -> !type.isEnum())
                .forEach(type -> builder.withConfigOverride(
                        type, override -> override.setFormat(JsonFormat.Value.forShape(JsonFormat.Shape.ARRAY))));
        return builder;
    }

    @Override
    public byte[] serialize(Object message) {
        return mapper.writeValueAsBytes(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return mapper.readValue(bytes, type);
    }
}
