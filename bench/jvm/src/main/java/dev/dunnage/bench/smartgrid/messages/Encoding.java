package dev.dunnage.bench.smartgrid.messages;

import com.fasterxml.jackson.databind.JsonNode;

/** The way in which a standard writes its messages. */
interface Encoding {
    byte[] encode(StandardMessage message) throws Exception;

    /** The values as JSON again, read from the bytes; the message tells their types. */
    JsonNode decode(byte[] bytes, StandardMessage message) throws Exception;
}
