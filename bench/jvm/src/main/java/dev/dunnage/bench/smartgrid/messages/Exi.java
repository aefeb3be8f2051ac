package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.databind.JsonNode;
import com.siemens.ct.exi.core.EXIFactory;
import com.siemens.ct.exi.core.FidelityOptions;
import com.siemens.ct.exi.core.exceptions.EXIException;
import com.siemens.ct.exi.core.helpers.DefaultEXIFactory;
import com.siemens.ct.exi.grammars.GrammarFactory;
import com.siemens.ct.exi.main.api.sax.EXIResult;
import com.siemens.ct.exi.main.api.sax.EXISource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.sax.SAXSource;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;
import org.xml.sax.XMLReader;

/** EXI by EXIficient, bit-packed, without a cookie and without options in the header: both ends know them. */
final class Exi implements Encoding {
    private static final String SCHEMA = "/smart-grid/ieee2030-5.xsd";

    private final Xml xml;
    private final EXIFactory factory;

    private Exi(String resource, EXIFactory factory) {
        this.xml = new Xml(resource);
        this.factory = factory;
    }

    /** EXI without a schema: names and values are text, each once. */
    static Exi schemaLess(String resource) {
        return new Exi(resource, DefaultEXIFactory.newInstance());
    }

    /** EXI with our XSD; other elements are allowed unless it is strict. */
    static Exi schemaInformed(String resource, boolean strict) throws EXIException {
        EXIFactory factory = DefaultEXIFactory.newInstance();
        factory.setGrammars(GrammarFactory.newInstance().createGrammars(Exi.class.getResourceAsStream(SCHEMA)));
        if (strict) {
            factory.setFidelityOptions(FidelityOptions.createStrict());
        }
        return new Exi(resource, factory);
    }

    @Override
    public byte[] encode(StandardMessage message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        EXIResult result = new EXIResult(factory);
        result.setOutputStream(bytes);
        SAXParserFactory parsers = SAXParserFactory.newInstance();
        parsers.setNamespaceAware(true);
        XMLReader reader = parsers.newSAXParser().getXMLReader();
        reader.setContentHandler(result.getHandler());
        reader.parse(new InputSource(new ByteArrayInputStream(xml.encode(message))));
        return bytes.toByteArray();
    }

    @Override
    public JsonNode decode(byte[] bytes, StandardMessage message) throws Exception {
        SAXSource source = new EXISource(factory);
        source.setInputSource(new InputSource(new ByteArrayInputStream(bytes)));
        DOMResult result = new DOMResult();
        TransformerFactory.newDefaultInstance().newTransformer().transform(source, result);
        return XmlJson.toJson(((Document) result.getNode()).getDocumentElement(), message, message.schema());
    }
}
