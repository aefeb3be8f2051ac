package dev.dunnage.bench.smartgrid.serializers;

import com.caucho.hessian.io.Hessian2Input;
import com.caucho.hessian.io.Hessian2Output;
import com.caucho.hessian.io.SerializerFactory;
import dev.dunnage.bench.smartgrid.Model;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;

/** Hessian 2. */
public final class Hessian extends Described {
    private final SerializerFactory factory = new SerializerFactory();

    public Hessian(Model model) {
        super("hessian", Hessian2Output.class);
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Hessian2Output out = new Hessian2Output(bytes);
        out.setSerializerFactory(factory);
        out.writeObject(message);
        out.close();
        return bytes.toByteArray();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        Hessian2Input in = new Hessian2Input(new ByteArrayInputStream(bytes));
        in.setSerializerFactory(factory);
        return type.cast(in.readObject(type));
    }
}
