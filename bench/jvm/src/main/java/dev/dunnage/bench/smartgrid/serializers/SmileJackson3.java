package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.dataformat.smile.SmileMapper;

/** Smile by Jackson 3. */
public final class SmileJackson3 extends Jackson3Serializer {
    public SmileJackson3(Model model) {
        super("smile-jackson3", SmileMapper.class, SmileMapper.builder());
    }
}
