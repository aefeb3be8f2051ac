package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import org.nustaq.serialization.FSTConfiguration;

/** FST, with all classes registered. */
public final class Fst extends Described {
    private final FSTConfiguration fst = FSTConfiguration.createDefaultConfiguration();

    public Fst(Model model) {
        super("fst", FSTConfiguration.class);
        fst.registerClass(model.types().toArray(Class<?>[]::new));
    }

    @Override
    public byte[] serialize(Object message) {
        return fst.asByteArray(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return type.cast(fst.asObject(bytes));
    }
}
