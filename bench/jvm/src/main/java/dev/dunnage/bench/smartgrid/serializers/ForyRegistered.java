package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import org.apache.fory.Fory;

/** Apache Fory, with all classes registered. */
public final class ForyRegistered extends Described {
    // Fory's compatible mode would write the names of the fields, to read messages of other versions of a class; Kryo and FST do not.
    private final Fory fory =
            Fory.builder().withXlang(false).withCompatible(false).requireClassRegistration(true).build();

    public ForyRegistered(Model model) {
        super("fory", Fory.class);
        model.types().forEach(fory::register);
    }

    @Override
    public byte[] serialize(Object message) {
        return fory.serialize(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return fory.deserialize(bytes, type);
    }
}
