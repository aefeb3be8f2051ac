package dev.dunnage.bench.smartgrid.serializers;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.dunnage.bench.smartgrid.Model;
import java.util.ArrayList;
import java.util.Date;

/** Kryo, with all classes registered. */
public final class KryoRegistered extends Described {
    private static final int INITIAL_SIZE = 4096;

    private final Kryo kryo = new Kryo();
    private final Output out = new Output(INITIAL_SIZE, -1);
    private final Input in = new Input();

    public KryoRegistered(Model model) {
        super("kryo", Kryo.class);
        kryo.register(ArrayList.class);
        kryo.register(Date.class);
        model.types().forEach(kryo::register);
    }

    @Override
    public byte[] serialize(Object message) {
        out.reset();
        kryo.writeObject(out, message);
        return out.toBytes();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        in.setBuffer(bytes);
        return kryo.readObject(in, type);
    }
}
