package dev.dunnage.pson.jackson;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadCapability;
import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.DupDetector;
import com.fasterxml.jackson.core.json.JsonReadContext;
import com.fasterxml.jackson.core.util.JacksonFeatureSet;
import dev.dunnage.pson.Pson;
import dev.dunnage.pson.PsonException;
import dev.dunnage.pson.PsonReader;
import dev.dunnage.pson.PsonStream;
import dev.dunnage.pson.Token;
import java.io.IOException;
import java.io.InputStream;

/** Reads PSON. From a stream, messages may follow each other. */
public final class PsonParser extends ValueParser {
    private final Pson pson;
    private final InputStream in;
    /** Messages of the stream; null without a stream. */
    private final PsonStream stream;
    /** The array that has the next message, from an offset on; null for a stream. */
    private byte[] bytes;
    private int offset;
    /** The bytes of the next or current message. */
    private int size;
    private ObjectCodec codec;
    private JsonReadContext parsing;
    private boolean isClosed;

    PsonParser(IOContext context, int features, ObjectCodec codec, Pson pson, InputStream in) {
        super(features, context);
        this.codec = codec;
        this.pson = pson;
        this.in = in;
        stream = pson.stream(in);
        parsing = root();
    }

    PsonParser(IOContext context, int features, ObjectCodec codec, Pson pson, byte[] bytes, int offset, int length) {
        super(features, context);
        this.codec = codec;
        this.pson = pson;
        in = null;
        stream = null;
        // Empty input is not a message, as for Jackson's other formats.
        this.bytes = length == 0 ? null : bytes;
        this.offset = offset;
        size = length;
        parsing = root();
    }

    private JsonReadContext root() {
        boolean isStrict = JsonParser.Feature.STRICT_DUPLICATE_DETECTION.enabledIn(_features);
        return JsonReadContext.createRootContext(isStrict ? DupDetector.rootDetector(this) : null);
    }

    @Override
    public JsonToken nextToken() throws IOException {
        text = null;
        try {
            Token token = reader == null ? null : reader.next();
            while (token == null) {
                reader = nextReader();
                if (reader == null) {
                    return ended();
                }
                token = reader.next();
            }
            _currToken = token(token);
            if (parsing.inRoot() && reader.nextOffset() < size) {
                // Most callers stop after the value that they wanted.
                reader.next();
            }
            return _currToken;
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    private PsonReader nextReader() throws IOException {
        if (stream != null && !isClosed) {
            bytes = stream.next();
            size = bytes == null ? 0 : bytes.length;
        }
        if (bytes == null) {
            return null;
        }
        byte[] message = bytes;
        bytes = null;
        return pson.reader(message, offset, size);
    }

    private JsonToken ended() throws IOException {
        close();
        return _currToken = null;
    }

    private JsonToken token(Token token) throws IOException {
        switch (token) {
            case KEY:
                return fieldName();
            case TEXT:
                return JsonToken.VALUE_STRING;
            case INTEGER:
                return JsonToken.VALUE_NUMBER_INT;
            case FLOAT:
                return JsonToken.VALUE_NUMBER_FLOAT;
            case BOOLEAN:
                return reader.booleanValue() ? JsonToken.VALUE_TRUE : JsonToken.VALUE_FALSE;
            case NULL:
                return JsonToken.VALUE_NULL;
            case MAP:
                parsing = parsing.createChildObjectContext(-1, -1);
                return JsonToken.START_OBJECT;
            case ARRAY:
                parsing = parsing.createChildArrayContext(-1, -1);
                return JsonToken.START_ARRAY;
            case END_MAP:
                parsing = parsing.clearAndGetParent();
                return JsonToken.END_OBJECT;
            case END_ARRAY:
                parsing = parsing.clearAndGetParent();
                return JsonToken.END_ARRAY;
            default:
                return JsonToken.VALUE_EMBEDDED_OBJECT;
        }
    }

    @Override
    public String nextFieldName() throws IOException {
        if (reader == null || !reader.isKeyNext()) {
            nextToken();
            return null;
        }
        try {
            reader.next();
        } catch (PsonException e) {
            throw failed(e);
        }
        _currToken = fieldName();
        return text;
    }

    private JsonToken fieldName() throws IOException {
        text = reader.stringValue();
        parsing.setCurrentName(text);
        return JsonToken.FIELD_NAME;
    }

    @Override
    public boolean nextFieldName(SerializableString name) throws IOException {
        return name.getValue().equals(nextFieldName());
    }

    @Override
    public String nextTextValue() throws IOException {
        return nextToken() == JsonToken.VALUE_STRING ? getText() : null;
    }

    @Override
    protected void _handleEOF() throws JsonParseException {
        if (!parsing.inRoot()) {
            _reportInvalidEOF(": the message ends early", null);
        }
    }

    @Override
    public String currentName() {
        if (_currToken == JsonToken.START_OBJECT || _currToken == JsonToken.START_ARRAY) {
            JsonReadContext parent = parsing.getParent();
            return parent == null ? null : parent.getCurrentName();
        }
        return parsing.getCurrentName();
    }

    @Override
    @Deprecated
    public String getCurrentName() {
        return currentName();
    }

    @Override
    @Deprecated
    public void overrideCurrentName(String name) {
        JsonReadContext named = _currToken == JsonToken.START_OBJECT || _currToken == JsonToken.START_ARRAY ? parsing.getParent() : parsing;
        try {
            named.setCurrentName(name);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (in != null && (context.isResourceManaged() || isEnabled(JsonParser.Feature.AUTO_CLOSE_SOURCE))) {
            in.close();
        }
        context.close();
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public JsonStreamContext getParsingContext() {
        return parsing;
    }

    @Override
    public JsonLocation currentLocation() {
        return location(reader == null ? 0 : reader.nextOffset());
    }

    @Override
    public JsonLocation currentTokenLocation() {
        return location(reader == null ? 0 : reader.offset());
    }

    @Override
    @Deprecated
    public JsonLocation getCurrentLocation() {
        return currentLocation();
    }

    @Override
    @Deprecated
    public JsonLocation getTokenLocation() {
        return currentTokenLocation();
    }

    @Override
    public ObjectCodec getCodec() {
        return codec;
    }

    @Override
    public void setCodec(ObjectCodec codec) {
        this.codec = codec;
    }

    @Override
    public Version version() {
        return PsonFactory.VERSION;
    }

    @Override
    public JacksonFeatureSet<StreamReadCapability> getReadCapabilities() {
        return DEFAULT_READ_CAPABILITIES;
    }
}
