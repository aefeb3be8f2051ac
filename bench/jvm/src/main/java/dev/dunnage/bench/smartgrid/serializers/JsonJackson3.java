package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.databind.json.JsonMapper;

/** JSON by Jackson 3. */
public final class JsonJackson3 extends Jackson3Serializer {
    public JsonJackson3(Model model) {
        super("json-jackson3", JsonMapper.class, JsonMapper.builder());
    }
}
