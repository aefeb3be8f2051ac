package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.Description;
import dev.dunnage.bench.Serializer;

/** A serializer with its row of serializers.json and a class that tells the library's version. */
abstract class Described implements Serializer {
    private final Description description;
    private final Class<?> library;

    Described(String id, Class<?> library) {
        this.description = Description.of(id);
        this.library = library;
    }

    @Override
    public final Description description() {
        return description;
    }

    @Override
    public final Class<?> library() {
        return library;
    }
}
