package dev.dunnage.bench.smartgrid.messages;

import com.beanit.jasn1.ber.ReverseByteArrayOutputStream;
import com.beanit.openiec61850.internal.mms.asn1.AccessResult;
import com.beanit.openiec61850.internal.mms.asn1.Identifier;
import com.beanit.openiec61850.internal.mms.asn1.InformationReport;
import com.beanit.openiec61850.internal.mms.asn1.MMSpdu;
import com.beanit.openiec61850.internal.mms.asn1.ObjectName;
import com.beanit.openiec61850.internal.mms.asn1.UnconfirmedPDU;
import com.beanit.openiec61850.internal.mms.asn1.UnconfirmedService;
import com.beanit.openiec61850.internal.mms.asn1.VariableAccessSpecification;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;

/**
 * A report of IEC 61850-8-1 in BER, by the MMS of OpenIEC61850: an InformationReport with the list RPT. The properties of the JSON Schema are its
 * entries in their order; an array with the type "entries" is an entry per element. The headers of the layers below are not included.
 */
final class MmsReport implements Encoding {
    private static final int CAPACITY = 512;

    @Override
    public byte[] encode(StandardMessage message) throws IOException {
        InformationReport report = new InformationReport();
        report.setVariableAccessSpecification(reports());
        InformationReport.ListOfAccessResult entries = new InformationReport.ListOfAccessResult();
        for (var property : message.schema().get("properties").properties()) {
            JsonNode value = message.document().required(property.getKey());
            if (isEntries(property.getValue())) {
                value.forEach(one -> entries.getAccessResult().add(entry(one, property.getValue().get("items"), message)));
            } else {
                entries.getAccessResult().add(entry(value, property.getValue(), message));
            }
        }
        report.setListOfAccessResult(entries);
        UnconfirmedService service = new UnconfirmedService();
        service.setInformationReport(report);
        UnconfirmedPDU unconfirmed = new UnconfirmedPDU();
        unconfirmed.setService(service);
        MMSpdu pdu = new MMSpdu();
        pdu.setUnconfirmedPDU(unconfirmed);
        ReverseByteArrayOutputStream out = new ReverseByteArrayOutputStream(CAPACITY, true);
        pdu.encode(out);
        return out.getArray();
    }

    private static VariableAccessSpecification reports() {
        ObjectName name = new ObjectName();
        name.setVmdSpecific(new Identifier(new byte[] {'R', 'P', 'T'}));
        VariableAccessSpecification variables = new VariableAccessSpecification();
        variables.setVariableListName(name);
        return variables;
    }

    private static boolean isEntries(JsonNode schema) {
        return schema.path("x-mms").asText().equals("entries");
    }

    private static AccessResult entry(JsonNode value, JsonNode schema, StandardMessage message) {
        AccessResult entry = new AccessResult();
        entry.setSuccess(MmsData.encode(value, schema, message));
        return entry;
    }

    @Override
    public JsonNode decode(byte[] bytes, StandardMessage message) throws IOException {
        MMSpdu pdu = new MMSpdu();
        pdu.decode(new ByteArrayInputStream(bytes), null);
        InformationReport report = pdu.getUnconfirmedPDU().getService().getInformationReport();
        List<AccessResult> entries = report.getListOfAccessResult().getAccessResult();
        Iterator<AccessResult> rest = entries.iterator();
        ObjectNode document = StandardMessage.JSON.createObjectNode();
        for (var property : message.schema().get("properties").properties()) {
            if (isEntries(property.getValue())) {
                ArrayNode array = document.putArray(property.getKey());
                // Each member of the data set that the report includes has a value and a reason.
                for (int i = 0; i < Integer.bitCount(document.get("Inclusion").intValue()); i++) {
                    array.add(MmsData.decode(rest.next().getSuccess(), property.getValue().get("items"), message));
                }
            } else {
                document.set(property.getKey(), MmsData.decode(rest.next().getSuccess(), property.getValue(), message));
            }
        }
        return document;
    }
}
