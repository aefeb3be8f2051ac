package dev.dunnage.bench.smartgrid.serializers;

import dev.dunnage.bench.smartgrid.Model;
import jakarta.xml.bind.JAXBContext;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import javax.xml.transform.stream.StreamSource;
import org.glassfish.jaxb.runtime.v2.JAXBContextFactory;

/** XML by JAXB with a new context for each message: the slow form that the paper shows as well. */
public final class XmlJaxbUncached extends Described {
    public XmlJaxbUncached(Model model) {
        super("xml-jaxb-uncached", JAXBContextFactory.class);
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        JAXBContext.newInstance(message.getClass()).createMarshaller().marshal(message, bytes);
        return bytes.toByteArray();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        StreamSource source = new StreamSource(new ByteArrayInputStream(bytes));
        return JAXBContext.newInstance(type).createUnmarshaller().unmarshal(source, type).getValue();
    }
}
