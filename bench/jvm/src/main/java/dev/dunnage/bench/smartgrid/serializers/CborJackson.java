package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import dev.dunnage.bench.smartgrid.Model;

/** CBOR by Jackson 2. */
public final class CborJackson extends JacksonSerializer {
    public CborJackson(Model model) {
        super("cbor-jackson", CBORMapper.class, new CBORMapper());
    }
}
