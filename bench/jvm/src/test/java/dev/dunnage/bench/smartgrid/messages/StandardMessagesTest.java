package dev.dunnage.bench.smartgrid.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.smartgrid.messages.StandardMessages.Way;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Set;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The messages of other standards come back from their own encodings, and these are what the standards say. */
class StandardMessagesTest {
    static Set<String> names() {
        return StandardMessages.names().keySet();
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyEncodingRestoresTheMessage(String name) throws Exception {
        StandardMessage message = StandardMessage.of(name);
        for (Way way : StandardMessages.ways(name)) {
            assertTrue(StandardMessages.encode(message, way.encoding()).length > 0, way.format());
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void theMessageFitsItsSchema(String name) {
        StandardMessage message = StandardMessage.of(name);
        var schema = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(message.schema());
        assertEquals(Set.of(), schema.validate(message.document()));
    }

    @Test
    void theXmlFitsTheXsd() throws Exception {
        var schema = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI)
                .newSchema(getClass().getResource("/smart-grid/ieee2030-5.xsd"));
        for (String name : new String[] {"ieee2030-5-meter-reading", "ieee2030-5-der-control"}) {
            byte[] xml = new Xml(StandardMessages.names().get(name)).encode(StandardMessage.of(name));
            schema.newValidator().validate(new StreamSource(new ByteArrayInputStream(xml)));
        }
    }

    @Test
    void aSchemaMakesExiSmaller() throws Exception {
        StandardMessage message = StandardMessage.of("ieee2030-5-der-control");
        int xml = new Xml("DERControl").encode(message).length;
        int schemaLess = Exi.schemaLess("DERControl").encode(message).length;
        int informed = Exi.schemaInformed("DERControl", false).encode(message).length;
        int strict = Exi.schemaInformed("DERControl", true).encode(message).length;
        assertTrue(xml > schemaLess && schemaLess > informed && informed > strict, xml + " " + schemaLess + " " + informed + " " + strict);
    }

    @Test
    void gooseIsTheBerOfTheStandard() throws Exception {
        String expected = "618188"
                + "8019" + ascii("BAY17PROT/LLN0$GO$gcbTrip") + "810207d0" + "8215" + ascii("BAY17PROT/LLN0$dsTrip")
                + "830a" + ascii("BAY17_TRIP") + "840869a85c316b020c0a" + "85010c" + "860100" + "870100" + "880103" + "890100" + "8a0109"
                + "ab28" + "8301ff" + "8403030000" + "8301ff" + "8403030000" + "84020640" + "8403030000" + "830100" + "8403030000"
                + "87050846039600";
        StandardMessage message = StandardMessage.of("goose");
        assertEquals(expected, HexFormat.of().formatHex(new Goose().encode(message)));
    }

    @Test
    void theReportIsTheBerOfTheStandard() throws Exception {
        String entries = "8a1c" + ascii("BAY17MEAS/LLN0$RP$urcbMeas01") + "8403067880" + "860139" + "8c06038333543c2b"
                + "8a15" + ascii("BAY17MEAS/LLN0$dsMeas") + "860103" + "840204f0"
                + measured("449f4800", "fae148") + measured("c39f4000", "fae148") + measured("3f7851ec", "fae148") + measured("4247eb85", "f5c28f")
                + "84020240".repeat(4);
        String expected = "a381d1" + "a081ce" + "a1058003" + ascii("RPT") + "a081c4" + entries;
        assertEquals(expected, HexFormat.of().formatHex(new MmsReport().encode(StandardMessage.of("mms-report"))));
    }

    /** A structure of a number, its quality and its time, whose second is that of all members. */
    private static String measured(String number, String fraction) {
        return "a218" + "a207870508" + number + "8403030000" + "910869a85c31" + fraction + "0a";
    }

    private static String ascii(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void aLostValueIsNoticed() {
        StandardMessage message = StandardMessage.of("goose");
        Encoding losing = new Encoding() {
            @Override
            public byte[] encode(StandardMessage message) {
                return new byte[1];
            }

            @Override
            public JsonNode decode(byte[] bytes, StandardMessage message) {
                return ((ObjectNode) message.document().deepCopy()).put("stNum", 13);
            }
        };
        assertThrows(IllegalStateException.class, () -> StandardMessages.encode(message, losing));
    }

    @Test
    void eachEncodingHasARecord() {
        SuiteResult result = new SuiteResult();
        new StandardMessages("smart-grid").measure(result);
        assertTrue(result.complete(), result.figures().toString());
        assertEquals(6 + 2 * 4 + 2, result.figures().size());
    }
}
