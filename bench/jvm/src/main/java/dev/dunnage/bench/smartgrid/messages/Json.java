package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/** JSON by Jackson, without white space. */
final class Json implements Encoding {
    @Override
    public byte[] encode(StandardMessage message) throws IOException {
        return StandardMessage.JSON.writeValueAsBytes(message.document());
    }

    @Override
    public JsonNode decode(byte[] bytes, StandardMessage message) throws IOException {
        return StandardMessage.JSON.readTree(bytes);
    }
}
