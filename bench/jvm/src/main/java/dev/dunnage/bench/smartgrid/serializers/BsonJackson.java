package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.databind.ObjectMapper;
import de.undercouch.bson4jackson.BsonFactory;
import dev.dunnage.bench.smartgrid.Model;

/** BSON by bson4jackson. */
public final class BsonJackson extends JacksonSerializer {
    public BsonJackson(Model model) {
        super("bson-jackson", BsonFactory.class, new ObjectMapper(new BsonFactory()));
    }
}
