package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.Description;
import dev.dunnage.bench.Serializer;

/**
 * A serializer with its row of serializers.json and a class that tells the library's version. The row is read only when it is asked for: the
 * library that reads it would otherwise count as memory of the serializer.
 */
abstract class Described implements Serializer {
    private final String id;
    private final Class<?> library;

    Described(String id, Class<?> library) {
        this.id = id;
        this.library = library;
    }

    @Override
    public final Description description() {
        return Description.of(id);
    }

    @Override
    public final Class<?> library() {
        return library;
    }
}
