package dev.dunnage.bench.smartgrid.messages;

import com.beanit.jasn1.ber.BerLength;
import com.beanit.jasn1.ber.BerTag;
import com.beanit.jasn1.ber.ReverseByteArrayOutputStream;
import com.beanit.jasn1.ber.types.BerBoolean;
import com.beanit.jasn1.ber.types.BerInteger;
import com.beanit.jasn1.ber.types.BerOctetString;
import com.beanit.jasn1.ber.types.string.BerVisibleString;
import com.beanit.openiec61850.internal.mms.asn1.Data;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The IECGoosePdu of IEC 61850-8-1 in BER, by the primitives of jASN1, which write backwards. The properties of the JSON Schema are the fields
 * in their order, which is that of their tags. The header of the Ethernet frame is not included.
 */
final class Goose implements Encoding {
    private static final BerTag PDU = new BerTag(BerTag.APPLICATION_CLASS, BerTag.CONSTRUCTED, 1);
    private static final String DATA = "allData";
    private static final int CAPACITY = 512;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    @Override
    public byte[] encode(StandardMessage message) throws IOException {
        ReverseByteArrayOutputStream out = new ReverseByteArrayOutputStream(CAPACITY, true);
        List<String> names = names(message);
        int length = 0;
        for (int tag = names.size() - 1; tag >= 0; tag--) {
            String name = names.get(tag);
            JsonNode value = message.document().required(name);
            length += name.equals(DATA) ? data(out, value, message) : field(out, value, type(message, name));
            length += tag(name, tag).encode(out);
        }
        BerLength.encodeLength(out, length);
        PDU.encode(out);
        return out.getArray();
    }

    private static List<String> names(StandardMessage message) {
        List<String> names = new ArrayList<>();
        message.schema().get("properties").fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static String type(StandardMessage message, String name) {
        return message.schema().at("/properties/" + name + "/x-mms").asText();
    }

    private static BerTag tag(String name, int number) {
        return new BerTag(BerTag.CONTEXT_CLASS, name.equals(DATA) ? BerTag.CONSTRUCTED : BerTag.PRIMITIVE, number);
    }

    private static int data(ReverseByteArrayOutputStream out, JsonNode values, StandardMessage message) throws IOException {
        int length = 0;
        for (int i = values.size() - 1; i >= 0; i--) {
            length += MmsData.encode(values.get(i), entry(message, i), message).encode(out);
        }
        return length + BerLength.encodeLength(out, length);
    }

    private static JsonNode entry(StandardMessage message, int place) {
        return message.schema().at("/properties/" + DATA + "/prefixItems/" + place);
    }

    private static int field(ReverseByteArrayOutputStream out, JsonNode value, String type) throws IOException {
        return switch (type) {
            case "visible-string" -> new BerVisibleString(value.textValue()).encode(out, false);
            case "integer" -> new BerInteger(value.longValue()).encode(out, false);
            case "boolean" -> new BerBoolean(value.booleanValue()).encode(out, false);
            case "utc-time" -> new BerOctetString(MmsContents.utcTime(value.textValue())).encode(out, false);
            default -> throw new IllegalArgumentException(type + ": no such type of a field");
        };
    }

    @Override
    public JsonNode decode(byte[] bytes, StandardMessage message) throws IOException {
        InputStream in = new ByteArrayInputStream(bytes);
        PDU.decodeAndCheck(in);
        new BerLength().decode(in);
        ObjectNode document = NODES.objectNode();
        List<String> names = names(message);
        for (int tag = 0; tag < names.size(); tag++) {
            String name = names.get(tag);
            tag(name, tag).decodeAndCheck(in);
            document.set(name, name.equals(DATA) ? data(in, message) : field(in, type(message, name)));
        }
        return document;
    }

    private static ArrayNode data(InputStream in, StandardMessage message) throws IOException {
        BerLength length = new BerLength();
        length.decode(in);
        ArrayNode values = NODES.arrayNode();
        for (int read = 0; read < length.val; ) {
            Data data = new Data();
            read += data.decode(in, null);
            values.add(MmsData.decode(data, entry(message, values.size()), message));
        }
        return values;
    }

    private static JsonNode field(InputStream in, String type) throws IOException {
        switch (type) {
            case "visible-string" -> {
                BerVisibleString text = new BerVisibleString();
                text.decode(in, false);
                return NODES.textNode(new String(text.value, StandardCharsets.US_ASCII));
            }
            case "integer" -> {
                BerInteger number = new BerInteger();
                number.decode(in, false);
                return NODES.numberNode(number.longValue());
            }
            case "boolean" -> {
                BerBoolean flag = new BerBoolean();
                flag.decode(in, false);
                return NODES.booleanNode(flag.value);
            }
            default -> {
                BerOctetString time = new BerOctetString();
                time.decode(in, false);
                return NODES.textNode(MmsContents.utcTime(time.value));
            }
        }
    }
}
