package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;

/**
 * XML by the JDK, without a declaration and without white space.
 *
 * @param resource the name of the root element
 */
record Xml(String resource) implements Encoding {
    @Override
    public byte[] encode(StandardMessage message) throws Exception {
        Transformer writer = TransformerFactory.newDefaultInstance().newTransformer();
        writer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        writer.transform(new DOMSource(XmlJson.toXml(resource, message.document())), new StreamResult(bytes));
        return bytes.toByteArray();
    }

    @Override
    public JsonNode decode(byte[] bytes, StandardMessage message) throws Exception {
        return XmlJson.toJson(XmlJson.builder().parse(new ByteArrayInputStream(bytes)).getDocumentElement(), message, message.schema());
    }
}
