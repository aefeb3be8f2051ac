package dev.dunnage.bench.smartgrid.serializers;

import io.protostuff.LinkedBuffer;
import io.protostuff.Schema;
import io.protostuff.runtime.RuntimeSchema;

/** A format of Protostuff, with schemas that it generates from the classes and caches. */
abstract class ProtostuffSerializer extends Described {
    /** In bytes. Smile needs more than the default of 512. */
    private static final int BUFFER_SIZE = 4096;

    private final LinkedBuffer buffer = LinkedBuffer.allocate(BUFFER_SIZE);

    ProtostuffSerializer(String id, Class<?> library) {
        super(id, library);
    }

    abstract <T> byte[] write(T message, Schema<T> schema, LinkedBuffer buffer) throws Exception;

    abstract <T> void read(byte[] bytes, T message, Schema<T> schema) throws Exception;

    @Override
    @SuppressWarnings("unchecked")
    public byte[] serialize(Object message) throws Exception {
        try {
            return write(message, (Schema<Object>) RuntimeSchema.getSchema(message.getClass()), buffer);
        } finally {
            buffer.clear();
        }
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        Schema<T> schema = RuntimeSchema.getSchema(type);
        T message = schema.newMessage();
        read(bytes, message, schema);
        return message;
    }
}
