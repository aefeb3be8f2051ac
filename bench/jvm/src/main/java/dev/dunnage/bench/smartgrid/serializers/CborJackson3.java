package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import tools.jackson.dataformat.cbor.CBORMapper;

/** CBOR by Jackson 3. */
public final class CborJackson3 extends Jackson3Serializer {
    public CborJackson3(Model model) {
        super("cbor-jackson3", CBORMapper.class, CBORMapper.builder());
    }
}
