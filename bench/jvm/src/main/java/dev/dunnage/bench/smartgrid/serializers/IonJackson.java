package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.ion.IonObjectMapper;
import dev.dunnage.bench.smartgrid.Model;

/** Binary Ion by its module for Jackson. */
public final class IonJackson extends JacksonSerializer {
    public IonJackson(Model model) {
        super("ion-jackson", IonObjectMapper.class, IonObjectMapper.builderForBinaryWriters().build());
    }
}
