package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.dataformat.smile.SmileMapper;

/** Smile by Jackson 3, objects as arrays. */
public final class SmileJackson3Arrays extends Jackson3Serializer {
    public SmileJackson3Arrays(Model model) {
        super("smile-jackson3-arrays", SmileMapper.class, asArrays(SmileMapper.builder(), model));
    }
}
