package dev.dunnage.bench.smartgrid.serializers;

import com.fasterxml.jackson.dataformat.xml.XmlMapper;
import dev.dunnage.bench.smartgrid.Model;

/** XML by Jackson. */
public final class XmlJackson extends JacksonSerializer {
    public XmlJackson(Model model) {
        super("xml-jackson", XmlMapper.class, new XmlMapper());
    }
}
