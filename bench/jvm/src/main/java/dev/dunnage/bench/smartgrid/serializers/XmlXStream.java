package dev.dunnage.bench.smartgrid.serializers;

import com.thoughtworks.xstream.io.xml.StaxDriver;
import dev.dunnage.bench.smartgrid.Model;

/** XML by XStream. */
public final class XmlXStream extends XStreamSerializer {
    public XmlXStream(Model model) {
        super("xml-xstream", new StaxDriver(), model);
    }
}
