package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;
import dev.dunnage.bench.smartgrid.Model;

/** Smile by Jackson 2. */
public final class SmileJackson extends JacksonSerializer {
    public SmileJackson(Model model) {
        super("smile-jackson", SmileMapper.class, new SmileMapper());
    }
}
