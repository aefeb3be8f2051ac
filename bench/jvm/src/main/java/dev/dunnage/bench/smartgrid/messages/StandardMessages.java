package dev.dunnage.bench.smartgrid.messages;

import com.beanit.jasn1.ber.BerTag;
import com.beanit.openiec61850.internal.mms.asn1.MMSpdu;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.siemens.ct.exi.main.api.sax.EXIResult;
import dev.dunnage.bench.LibraryVersion;
import dev.dunnage.bench.SuiteResult;
import dev.dunnage.bench.record.Figure;
import dev.dunnage.bench.record.Figure.Subject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.transform.TransformerFactory;

/** Messages of other standards of the smart grid in the encodings that these standards define, and as JSON: their bytes. */
public final class StandardMessages {
    private static final String OUR_XSD = "An XSD of ours has the elements of these messages; the standard's has more optional ones.";

    private final String suite;

    public StandardMessages(String suite) {
        this.suite = suite;
    }

    /** The messages, each with the name of its root element in XML; null for those that are not XML. */
    static Map<String, String> names() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("openadr3-event", null);
        names.put("openadr3-report", null);
        names.put("ieee2030-5-meter-reading", "MirrorMeterReading");
        names.put("ieee2030-5-der-control", "DERControl");
        names.put("goose", null);
        names.put("mms-report", null);
        return names;
    }

    /** A way to write a message, with what the records say about it. */
    record Way(String format, String library, Class<?> from, Encoding encoding, String note) {
        Subject subject() {
            return new Subject(format, library, LibraryVersion.of(from));
        }
    }

    /** The ways to write a message: JSON, and those of its standard. */
    static List<Way> ways(String name) throws Exception {
        Way json = new Way("json", "Jackson", ObjectMapper.class, new Json(), null);
        String resource = names().get(name);
        if (resource != null) {
            return List.of(
                    json,
                    new Way("xml", "JDK", TransformerFactory.class, new Xml(resource), null),
                    new Way("exi", "EXIficient", EXIResult.class, Exi.schemaLess(resource), null),
                    new Way("exi-schema", "EXIficient", EXIResult.class, Exi.schemaInformed(resource, false), OUR_XSD),
                    new Way("exi-strict", "EXIficient", EXIResult.class, Exi.schemaInformed(resource, true), OUR_XSD));
        }
        return switch (name) {
            case "goose" -> List.of(json, new Way("ber", "jASN1", BerTag.class, new Goose(), null));
            case "mms-report" -> List.of(json, new Way("ber", "OpenIEC61850", MMSpdu.class, new MmsReport(), null));
            default -> List.of(json);
        };
    }

    /** Adds the bytes of each message in each encoding. One that does not return the same values is a failure. */
    public void measure(SuiteResult result) {
        for (String name : names().keySet()) {
            try {
                StandardMessage message = StandardMessage.of(name);
                for (Way way : ways(name)) {
                    measure(message, way, result);
                }
            } catch (Exception e) {
                result.fail(suite, name, new Subject("json", "Jackson", null), "encode", e);
            }
        }
    }

    private void measure(StandardMessage message, Way way, SuiteResult result) {
        try {
            byte[] bytes = encode(message, way.encoding());
            Figure figure = Figure.of(suite, message.name(), way.subject(), "encode", "bytes", "bytes");
            result.add(figure.value(bytes.length).repeated(1, null).note(way.note()));
        } catch (Exception e) {
            result.fail(suite, message.name(), way.subject(), "encode", e);
        }
    }

    /** The bytes of a message. Throws an exception if they do not decode to the same values. */
    static byte[] encode(StandardMessage message, Encoding encoding) throws Exception {
        byte[] bytes = encoding.encode(message);
        // The text of the decoded values removes differences between Jackson's types of numbers.
        JsonNode decoded = StandardMessage.JSON.readTree(encoding.decode(bytes, message).toString());
        if (!decoded.equals(message.document())) {
            throw new IllegalStateException("the message came back as " + decoded);
        }
        return bytes;
    }
}
