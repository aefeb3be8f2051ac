package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import javax.xml.transform.stream.StreamSource;
import org.glassfish.jaxb.runtime.v2.JAXBContextFactory;

/** XML by JAXB with one context for all classes. */
public final class XmlJaxb extends Described {
    private final JAXBContext context;

    public XmlJaxb(Model model) throws JAXBException {
        super("xml-jaxb", JAXBContextFactory.class);
        context = JAXBContext.newInstance(model.logicalNodes().toArray(Class<?>[]::new));
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        context.createMarshaller().marshal(message, bytes);
        return bytes.toByteArray();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        StreamSource source = new StreamSource(new ByteArrayInputStream(bytes));
        return context.createUnmarshaller().unmarshal(source, type).getValue();
    }
}
