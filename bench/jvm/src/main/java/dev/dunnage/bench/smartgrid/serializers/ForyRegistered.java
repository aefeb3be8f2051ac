package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import org.apache.fory.Fory;
import org.apache.fory.config.Language;

/** Apache Fory, with all classes registered. */
public final class ForyRegistered extends Described {
    private final Fory fory = Fory.builder().withLanguage(Language.JAVA).requireClassRegistration(true).build();

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
