package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.Difference;
import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.iec61850.LogicalNodes;
import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.util.List;

/**
 * Whether a serializer restores the logical nodes.
 *
 * @param percent the share of the classes that come back with the same value in every field
 * @param loss the first difference, or null
 */
record Check(double percent, String loss) {
    /** Checks all logical nodes of the standard, whichever of them are timed. */
    static Check of(String id, Fill fill) throws Exception {
        List<Class<?>> nodes = LogicalNodes.ALL;
        Serializer serializer = Registry.create(id, Model.of(nodes));
        int restored = 0;
        String loss = null;
        for (Class<?> node : nodes) {
            String difference = difference(serializer, Payloads.of(node, fill));
            if (difference == null) {
                restored++;
            } else if (loss == null) {
                loss = node.getSimpleName() + difference;
            }
        }
        return new Check(100.0 * restored / nodes.size(), loss);
    }

    private static String difference(Serializer serializer, Object message) {
        try {
            return Difference.between(message, serializer.deserialize(serializer.serialize(message), message.getClass()));
        } catch (Exception e) {
            return ": " + e;
        }
    }

    /** The share of random binary64 numbers that the serializer restores, in percent. */
    static double doubles(String id) throws Exception {
        Doubles doubles = Doubles.random();
        Serializer serializer = Registry.create(id, Doubles.MODEL);
        return doubles.unchanged(serializer.deserialize(serializer.serialize(doubles), Doubles.class));
    }
}
