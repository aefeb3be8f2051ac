package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.dunnage.bench.smartgrid.Model;

/** JSON by Jackson 2. */
public final class JsonJackson extends JacksonSerializer {
    public JsonJackson(Model model) {
        super("json-jackson", ObjectMapper.class, new ObjectMapper());
    }
}
