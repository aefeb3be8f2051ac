package dev.dunnage.bench.smartgrid.messages;

import com.beanit.jasn1.ber.types.BerBitString;
import com.beanit.jasn1.ber.types.BerInteger;
import com.beanit.jasn1.ber.types.string.BerVisibleString;
import com.beanit.openiec61850.internal.BerBoolean;
import com.beanit.openiec61850.internal.mms.asn1.Data;
import com.beanit.openiec61850.internal.mms.asn1.FloatingPoint;
import com.beanit.openiec61850.internal.mms.asn1.TimeOfDay;
import com.beanit.openiec61850.internal.mms.asn1.UtcTime;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** The type Data of MMS, from and to JSON. The keyword x-mms of the JSON Schema names the type; an object is a structure without names. */
final class MmsData {
    private static final String TYPE = "x-mms";
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private MmsData() {}

    static Data encode(JsonNode value, JsonNode schema, StandardMessage message) {
        Data data = new Data();
        if (!schema.has(TYPE)) {
            Data.Structure structure = new Data.Structure();
            for (var member : message.resolve(schema).required("properties").properties()) {
                structure.getData().add(encode(value.required(member.getKey()), member.getValue(), message));
            }
            data.setStructure(structure);
            return data;
        }
        String[] type = schema.get(TYPE).asText().split(" ");
        switch (type[0]) {
            case "boolean" -> data.setBool(new BerBoolean(value.booleanValue()));
            case "integer" -> data.setInteger(new BerInteger(value.longValue()));
            case "unsigned" -> data.setUnsigned(new BerInteger(value.longValue()));
            case "floating-point" -> data.setFloatingPoint(new FloatingPoint(MmsContents.floatingPoint(value.doubleValue())));
            case "bit-string" -> data.setBitString(bits(value.intValue(), Integer.parseInt(type[1])));
            case "visible-string" -> data.setVisibleString(new BerVisibleString(value.textValue()));
            case "utc-time" -> data.setUtcTime(new UtcTime(MmsContents.utcTime(value.textValue())));
            case "binary-time" -> data.setBinaryTime(new TimeOfDay(MmsContents.binaryTime(value.textValue())));
            default -> throw new IllegalArgumentException(type[0] + ": no such type of MMS");
        }
        return data;
    }

    private static BerBitString bits(int value, int count) {
        return new BerBitString(MmsContents.bits(value, count), count);
    }

    static JsonNode decode(Data data, JsonNode schema, StandardMessage message) {
        if (!schema.has(TYPE)) {
            ObjectNode object = NODES.objectNode();
            Iterator<Data> members = data.getStructure().getData().iterator();
            for (var member : message.resolve(schema).required("properties").properties()) {
                object.set(member.getKey(), decode(members.next(), member.getValue(), message));
            }
            return object;
        }
        return switch (schema.get(TYPE).asText().split(" ")[0]) {
            case "boolean" -> NODES.booleanNode(data.getBool().value);
            case "integer" -> NODES.numberNode(data.getInteger().longValue());
            case "unsigned" -> NODES.numberNode(data.getUnsigned().longValue());
            case "floating-point" -> number(MmsContents.floatingPoint(data.getFloatingPoint().value));
            case "bit-string" -> NODES.numberNode(MmsContents.bits(data.getBitString().value, data.getBitString().numBits));
            case "visible-string" -> NODES.textNode(new String(data.getVisibleString().value, StandardCharsets.US_ASCII));
            case "utc-time" -> NODES.textNode(MmsContents.utcTime(data.getUtcTime().value));
            case "binary-time" -> NODES.textNode(MmsContents.binaryTime(data.getBinaryTime().value));
            default -> throw new IllegalArgumentException(schema + ": no such type of MMS");
        };
    }

    /** The shortest decimal that binary32 reads as this number. */
    private static JsonNode number(float value) {
        return NODES.numberNode(new BigDecimal(Float.toString(value)));
    }
}
