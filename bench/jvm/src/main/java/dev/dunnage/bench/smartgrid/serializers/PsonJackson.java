package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import dev.dunnage.pson.jackson.PsonMapper;

/** PSON by its module for Jackson 2. */
public final class PsonJackson extends JacksonSerializer {
    public PsonJackson(Model model) {
        super("pson-jackson", PsonMapper.class, new PsonMapper());
    }
}
