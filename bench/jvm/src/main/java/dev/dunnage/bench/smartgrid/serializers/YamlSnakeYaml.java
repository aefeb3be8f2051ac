package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.Constructor;
import org.yaml.snakeyaml.introspector.BeanAccess;
import org.yaml.snakeyaml.introspector.Property;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeId;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;

/** YAML by SnakeYAML, in block style without the name of the class. */
public final class YamlSnakeYaml extends Described {
    private final Yaml yaml;

    public YamlSnakeYaml(Model model) {
        super("yaml-snakeyaml", Yaml.class);
        DumperOptions options = new DumperOptions();
        options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
        LoaderOptions limits = new LoaderOptions();
        // The default of 3 MiB is a protection against hostile documents.
        limits.setCodePointLimit(Integer.MAX_VALUE);
        yaml = new Yaml(new Reading(limits), new Writing(options), options, limits);
        yaml.setBeanAccess(BeanAccess.FIELD);
    }

    @Override
    public byte[] serialize(Object message) {
        return yaml.dumpAs(message, Tag.MAP, DumperOptions.FlowStyle.BLOCK).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return yaml.loadAs(new String(bytes, StandardCharsets.UTF_8), type);
    }

    /** Leaves out absent values, and writes a time as milliseconds since 1970. */
    private static final class Writing extends Representer {
        Writing(DumperOptions options) {
            super(options);
            representers.put(Date.class, date -> representScalar(Tag.INT, Long.toString(((Date) date).getTime())));
        }

        @Override
        protected NodeTuple representJavaBeanProperty(Object bean, Property property, Object value, Tag tag) {
            return value == null ? null : super.representJavaBeanProperty(bean, property, value, tag);
        }
    }

    /** Reads a time from milliseconds since 1970. */
    private static final class Reading extends Constructor {
        Reading(LoaderOptions limits) {
            super(limits);
            yamlClassConstructors.put(NodeId.scalar, new Scalar());
        }

        private final class Scalar extends ConstructScalar {
            @Override
            public Object construct(Node node) {
                return node.getType() == Date.class
                        ? new Date(Long.parseLong(((ScalarNode) node).getValue()))
                        : super.construct(node);
            }
        }
    }
}
