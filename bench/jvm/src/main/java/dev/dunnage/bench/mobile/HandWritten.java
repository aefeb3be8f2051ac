package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Serializer;
import java.io.IOException;

/** A serializer with code of its own for each of the two classes. */
abstract class HandWritten implements Serializer {
    abstract byte[] write(Book book) throws Exception;

    abstract byte[] write(Video video) throws Exception;

    abstract Book readBook(byte[] bytes) throws Exception;

    abstract Video readVideo(byte[] bytes) throws Exception;

    @Override
    public final byte[] serialize(Object message) throws Exception {
        return message instanceof Book book ? write(book) : write((Video) message);
    }

    @Override
    public final <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return type.cast(type == Book.class ? readBook(bytes) : readVideo(bytes));
    }

    static IOException unknown(Object field) {
        return new IOException("unknown field: " + field);
    }
}
