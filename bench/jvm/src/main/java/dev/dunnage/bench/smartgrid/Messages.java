package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.util.ArrayList;
import java.util.List;

/** The messages of a run and their bytes from one serializer. */
final class Messages {
    final Serializer serializer;
    final Object[] objects;
    final Class<?>[] types;
    final byte[][] bytes;

    private Messages(Serializer serializer, List<Object> objects) throws Exception {
        this.serializer = serializer;
        this.objects = objects.toArray();
        this.types = objects.stream().map(Object::getClass).toArray(Class<?>[]::new);
        this.bytes = new byte[this.objects.length][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = serializer.serialize(this.objects[i]);
        }
    }

    /** The messages of the logical nodes with these names, separated by spaces, as parameters of JMH are texts. */
    static Messages of(String serializer, String classes, String fill) throws Exception {
        Model model = Model.named(names(classes));
        List<Object> objects = new ArrayList<>();
        model.logicalNodes().forEach(node -> objects.add(Payloads.of(node, Fill.valueOf(fill))));
        return new Messages(Registry.create(serializer, model), objects);
    }

    private static List<String> names(String classes) {
        return classes.isEmpty() ? List.of() : List.of(classes.split(" "));
    }
}
