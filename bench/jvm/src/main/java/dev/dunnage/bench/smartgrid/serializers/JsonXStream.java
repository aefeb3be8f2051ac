package dev.dunnage.bench.smartgrid.serializers;

import com.thoughtworks.xstream.io.json.JettisonMappedXmlDriver;
import dev.dunnage.bench.smartgrid.Model;

/** JSON by XStream and Jettison. */
public final class JsonXStream extends XStreamSerializer {
    public JsonXStream(Model model) {
        super("json-xstream", new JettisonMappedXmlDriver(), model);
    }
}
