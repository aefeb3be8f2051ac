package dev.dunnage.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;
import dev.dunnage.pson.Limits;
import dev.dunnage.pson.Pson;
import dev.dunnage.pson.jackson.PsonFactory;
import dev.dunnage.pson.jackson.PsonMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.ArrayList;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.jackson.dataformat.MessagePackMapper;

/** A library, which turns Maps and Lists into bytes and back. */
enum Codec {
    PSON_CORE("pson", "dunnage", "") {
        private final Pson pson = large();

        @Override
        byte[] encode(Object value) {
            return pson.encode(value);
        }

        @Override
        Object decode(byte[] message) {
            return pson.decode(message);
        }
    },
    MSGPACK_CORE("msgpack", "msgpack-core", "") {
        @Override
        byte[] encode(Object value) throws IOException {
            try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
                pack(value, packer);
                return packer.toByteArray();
            }
        }

        @Override
        Object decode(byte[] message) throws IOException {
            try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(message)) {
                return unpack(unpacker);
            }
        }
    },
    JACKSON_PSON("pson", "dunnage-jackson", "Jackson", new PsonMapper(new PsonFactory(large()))),
    JACKSON_CBOR("cbor", "jackson-cbor", "Jackson", new CBORMapper()),
    JACKSON_SMILE("smile", "jackson-smile", "Jackson", new SmileMapper()),
    JACKSON_MSGPACK("msgpack", "jackson-msgpack", "Jackson", new MessagePackMapper()),
    JACKSON_JSON("json", "jackson-json", "Jackson", new ObjectMapper());

    final String format;
    final String library;
    final String options;
    private final ObjectMapper mapper;

    Codec(String format, String library, String options) {
        this(format, library, options, null);
    }

    Codec(String format, String library, String options, ObjectMapper mapper) {
        this.format = format;
        this.library = library;
        this.options = options;
        this.mapper = mapper;
    }

    private static Pson large() {
        return Pson.DEFAULT.withLimits(Limits.DEFAULT.withSize(1 << 24));
    }

    byte[] encode(Object value) throws IOException {
        return mapper.writeValueAsBytes(value);
    }

    Object decode(byte[] message) throws IOException {
        return mapper.readValue(message, Object.class);
    }

    private static void pack(Object value, MessageBufferPacker packer) throws IOException {
        if (value instanceof String text) {
            packer.packString(text);
        } else if (value instanceof Integer n) {
            packer.packInt(n);
        } else if (value instanceof Long n) {
            packer.packLong(n);
        } else if (value instanceof Double f) {
            packer.packDouble(f);
        } else if (value == null) {
            packer.packNil();
        } else if (value instanceof Boolean b) {
            packer.packBoolean(b);
        } else if (value instanceof Map<?, ?> map) {
            packer.packMapHeader(map.size());
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                packer.packString((String) entry.getKey());
                pack(entry.getValue(), packer);
            }
        } else {
            List<?> list = (List<?>) value;
            packer.packArrayHeader(list.size());
            for (Object item : list) {
                pack(item, packer);
            }
        }
    }

    private static Object unpack(MessageUnpacker unpacker) throws IOException {
        switch (unpacker.getNextFormat().getValueType()) {
            case NIL:
                unpacker.unpackNil();
                return null;
            case BOOLEAN:
                return unpacker.unpackBoolean();
            case INTEGER:
                return unpacker.unpackLong();
            case FLOAT:
                return unpacker.unpackDouble();
            case STRING:
                return unpacker.unpackString();
            case ARRAY:
                int length = unpacker.unpackArrayHeader();
                List<Object> list = new ArrayList<>(length);
                for (int i = 0; i < length; i++) {
                    list.add(unpack(unpacker));
                }
                return list;
            default:
                int entries = unpacker.unpackMapHeader();
                Map<String, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < entries; i++) {
                    map.put(unpacker.unpackString(), unpack(unpacker));
                }
                return map;
        }
    }
}
