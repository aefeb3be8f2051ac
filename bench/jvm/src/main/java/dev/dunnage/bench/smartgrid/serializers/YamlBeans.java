package dev.dunnage.bench.smartgrid.serializers;

import com.esotericsoftware.yamlbeans.YamlConfig;
import com.esotericsoftware.yamlbeans.YamlReader;
import com.esotericsoftware.yamlbeans.YamlWriter;
import com.esotericsoftware.yamlbeans.scalar.ScalarSerializer;
import dev.dunnage.bench.smartgrid.Model;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Date;

/** YAML by YamlBeans, without the names of classes. A writer and a reader serve one document each. */
public final class YamlBeans extends Described {
    private final YamlConfig config = new YamlConfig();

    public YamlBeans(Model model) {
        super("yaml-yamlbeans", YamlWriter.class);
        config.setScalarSerializer(Date.class, new Milliseconds());
        config.writeConfig.setWriteClassname(YamlConfig.WriteClassName.NEVER);
        config.writeConfig.setAutoAnchor(false);
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        StringWriter text = new StringWriter();
        YamlWriter writer = new YamlWriter(text, config);
        writer.write(message);
        writer.close();
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return new YamlReader(new String(bytes, StandardCharsets.UTF_8), config).read(type);
    }

    /** Writes a time as milliseconds since 1970. */
    private static final class Milliseconds implements ScalarSerializer<Date> {
        @Override
        public String write(Date date) {
            return Long.toString(date.getTime());
        }

        @Override
        public Date read(String value) {
            return new Date(Long.parseLong(value));
        }
    }
}
