package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import org.msgpack.MessagePack;

/** MessagePack by the first library for Java, which writes objects as arrays by their annotations. */
public final class MsgpackTemplates extends Described {
    private final MessagePack msgpack = new MessagePack();

    public MsgpackTemplates(Model model) {
        super("msgpack-0.6", MessagePack.class);
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        return msgpack.write(message);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return msgpack.read(bytes, type);
    }
}
