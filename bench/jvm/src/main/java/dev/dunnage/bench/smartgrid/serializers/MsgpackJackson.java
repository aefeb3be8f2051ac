package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import org.msgpack.jackson.dataformat.MessagePackMapper;

/** MessagePack by its module for Jackson. */
public final class MsgpackJackson extends JacksonSerializer {
    public MsgpackJackson(Model model) {
        super("msgpack-jackson", MessagePackMapper.class, new MessagePackMapper());
    }
}
