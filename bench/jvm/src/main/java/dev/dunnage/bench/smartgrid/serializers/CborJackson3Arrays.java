package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.dataformat.cbor.CBORMapper;

/** CBOR by Jackson 3, objects as arrays. */
public final class CborJackson3Arrays extends Jackson3Serializer {
    public CborJackson3Arrays(Model model) {
        super("cbor-jackson3-arrays", CBORMapper.class, asArrays(CBORMapper.builder(), model));
    }
}
