package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Attr;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** A resource of IEEE 2030.5 as XML and as JSON: a key for each attribute and element, an array for elements that may repeat. */
final class XmlJson {
    static final String NAMESPACE = "urn:ieee:std:2030.5:ns";

    /** The keys that are attributes in XML. */
    private static final Set<String> ATTRIBUTES = Set.of("href", "replyTo", "responseRequired", "subscribable");

    private XmlJson() {}

    /** A builder of documents with namespaces. */
    static DocumentBuilder builder() throws ParserConfigurationException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        return factory.newDocumentBuilder();
    }

    /** The XML of a resource. */
    static Document toXml(String resource, JsonNode json) throws ParserConfigurationException {
        Document document = builder().newDocument();
        document.appendChild(element(document, resource, json));
        return document;
    }

    private static Element element(Document document, String name, JsonNode value) {
        Element element = document.createElementNS(NAMESPACE, name);
        if (!value.isObject()) {
            element.setTextContent(value.asText());
            return element;
        }
        for (var member : value.properties()) {
            if (ATTRIBUTES.contains(member.getKey())) {
                element.setAttribute(member.getKey(), member.getValue().asText());
            } else if (member.getValue().isArray()) {
                member.getValue().forEach(one -> element.appendChild(element(document, member.getKey(), one)));
            } else {
                element.appendChild(element(document, member.getKey(), member.getValue()));
            }
        }
        return element;
    }

    /** The JSON of an element. {@code schema} says which values are numbers and which may repeat. */
    static ObjectNode toJson(Element element, StandardMessage message, JsonNode schema) throws JsonProcessingException {
        ObjectNode json = StandardMessage.JSON.createObjectNode();
        JsonNode properties = schema.get("properties");
        for (int i = 0; i < element.getAttributes().getLength(); i++) {
            Attr attribute = (Attr) element.getAttributes().item(i);
            if (attribute.getNamespaceURI() == null) {
                json.put(attribute.getName(), attribute.getValue());
            }
        }
        for (Node child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element inner) {
                add(json, inner, message, message.resolve(properties.required(inner.getLocalName())));
            }
        }
        return json;
    }

    private static void add(ObjectNode json, Element element, StandardMessage message, JsonNode schema) throws JsonProcessingException {
        String name = element.getLocalName();
        if (schema.get("type").asText().equals("array")) {
            ArrayNode array = json.withArray(name);
            array.add(value(element, message, message.resolve(schema.get("items"))));
        } else {
            json.set(name, value(element, message, schema));
        }
    }

    private static JsonNode value(Element element, StandardMessage message, JsonNode schema) throws JsonProcessingException {
        String text = element.getTextContent();
        return switch (schema.get("type").asText()) {
            case "object" -> toJson(element, message, schema);
            case "string" -> StandardMessage.JSON.getNodeFactory().textNode(text);
            default -> StandardMessage.JSON.readTree(text);
        };
    }
}
