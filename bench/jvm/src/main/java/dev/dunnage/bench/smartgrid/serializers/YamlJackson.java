package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.dunnage.bench.smartgrid.Model;

/** YAML by Jackson. */
public final class YamlJackson extends JacksonSerializer {
    public YamlJackson(Model model) {
        super("yaml-jackson", YAMLMapper.class, new YAMLMapper());
    }
}
