package dev.dunnage.pson.jackson;

import com.fasterxml.jackson.core.Base64Variant;
import com.fasterxml.jackson.core.JsonGenerationException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamWriteCapability;
import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.core.base.GeneratorBase;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.JsonWriteContext;
import com.fasterxml.jackson.core.util.JacksonFeatureSet;
import dev.dunnage.pson.Pson;
import dev.dunnage.pson.PsonException;
import dev.dunnage.pson.PsonWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/** Writes PSON. A message goes to the stream when it is whole. */
public final class PsonGenerator extends GeneratorBase {
    private final OutputStream out;
    private final PsonWriter writer;
    /** Memory of Jackson that the writer begins in; null after it was given back. */
    private byte[] recycled;
    /** The most memory that Jackson keeps for the next message: as much as a message of the default limit needs. */
    private static final int KEPT = 1 << 20;

    PsonGenerator(IOContext context, int features, ObjectCodec codec, Pson pson, OutputStream out) {
        super(features, codec, context);
        this.out = out;
        recycled = context.allocWriteEncodingBuffer();
        writer = pson.writer(recycled);
    }

    @Override
    public Version version() {
        return PsonFactory.VERSION;
    }

    @Override
    public boolean canWriteBinaryNatively() {
        return true;
    }

    @Override
    public JacksonFeatureSet<StreamWriteCapability> getWriteCapabilities() {
        return DEFAULT_BINARY_WRITE_CAPABILITIES;
    }

    /** Runs one call of the writer, after the context has counted a value. */
    private interface Write {
        void run() throws IOException;
    }

    /** Ends a value: a message that is whole leaves. */
    private void written() throws IOException {
        if (_writeContext.inRoot()) {
            writer.writeTo(out);
            writer.reset();
        }
    }

    private JsonGenerationException failed(PsonException e) {
        return new JsonGenerationException(e.getMessage(), e, this);
    }

    @Override
    protected void _verifyValueWrite(String typeMsg) throws IOException {
        if (_writeContext.writeValue() == JsonWriteContext.STATUS_EXPECT_NAME) {
            _reportError("Can not " + typeMsg + ", expecting field name");
        }
    }

    @Override
    public void writeStartArray() throws IOException {
        start(false, null, 0);
    }

    @Override
    public void writeStartArray(Object value) throws IOException {
        start(false, value, 0);
    }

    @Override
    public void writeStartArray(Object value, int size) throws IOException {
        start(false, value, size);
    }

    @Override
    public void writeStartObject() throws IOException {
        start(true, null, 0);
    }

    @Override
    public void writeStartObject(Object value) throws IOException {
        start(true, value, 0);
    }

    @Override
    public void writeStartObject(Object value, int size) throws IOException {
        start(true, value, size);
    }

    private void start(boolean isObject, Object value, int size) throws IOException {
        _verifyValueWrite(isObject ? "start an object" : "start an array");
        _writeContext = isObject ? _writeContext.createChildObjectContext(value) : _writeContext.createChildArrayContext(value);
        try {
            if (isObject) {
                writer.startMap(size);
            } else {
                writer.startArray(size);
            }
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeEndArray() throws IOException {
        if (!_writeContext.inArray()) {
            _reportError("Current context not Array but " + _writeContext.typeDesc());
        }
        end();
    }

    @Override
    public void writeEndObject() throws IOException {
        if (!_writeContext.inObject()) {
            _reportError("Current context not Object but " + _writeContext.typeDesc());
        }
        end();
    }

    private void end() throws IOException {
        try {
            writer.end();
            _writeContext = _writeContext.clearAndGetParent();
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeFieldName(String name) throws IOException {
        field(name);
        try {
            writer.key(name);
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeFieldName(SerializableString name) throws IOException {
        field(name.getValue());
        try {
            writer.keyUtf8(name.asUnquotedUTF8());
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    private void field(String name) throws IOException {
        if (_writeContext.writeFieldName(name) == JsonWriteContext.STATUS_EXPECT_VALUE) {
            _reportError("Can not write a field name, expecting a value");
        }
    }

    @Override
    public void writeString(String text) throws IOException {
        if (text == null) {
            writeNull();
            return;
        }
        _verifyValueWrite("write text");
        try {
            writer.writeString(text);
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeString(char[] text, int offset, int length) throws IOException {
        writeString(new String(text, offset, length));
    }

    @Override
    public void writeString(SerializableString text) throws IOException {
        writeString(text.getValue());
    }

    @Override
    public void writeUTF8String(byte[] utf8, int offset, int length) throws IOException {
        writeString(new String(utf8, offset, length, StandardCharsets.UTF_8));
    }

    @Override
    public void writeRawUTF8String(byte[] utf8, int offset, int length) throws IOException {
        writeUTF8String(utf8, offset, length);
    }

    @Override
    public void writeRaw(String text) {
        _reportUnsupportedOperation();
    }

    @Override
    public void writeRaw(String text, int offset, int length) {
        _reportUnsupportedOperation();
    }

    @Override
    public void writeRaw(char[] text, int offset, int length) {
        _reportUnsupportedOperation();
    }

    @Override
    public void writeRaw(char c) {
        _reportUnsupportedOperation();
    }

    @Override
    public void writeBinary(Base64Variant variant, byte[] data, int offset, int length) throws IOException {
        _verifyValueWrite("write bytes");
        try {
            writer.writeBytes(data, offset, length);
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public int writeBinary(Base64Variant variant, InputStream data, int length) throws IOException {
        byte[] bytes = length < 0 ? data.readAllBytes() : data.readNBytes(length);
        if (length >= 0 && bytes.length < length) {
            _reportError("Too few bytes available: missing " + (length - bytes.length) + " bytes (out of " + length + ")");
        }
        writeBinary(variant, bytes, 0, bytes.length);
        return bytes.length;
    }

    @Override
    public void writeNumber(int n) throws IOException {
        writeNumber((long) n);
    }

    @Override
    public void writeNumber(long n) throws IOException {
        _verifyValueWrite("write a number");
        try {
            writer.writeLong(n);
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeNumber(BigInteger n) throws IOException {
        number(n, n == null ? null : () -> writer.writeBigInteger(n));
    }

    @Override
    public void writeNumber(BigDecimal n) throws IOException {
        number(n, n == null ? null : () -> writer.writeDecimal(n));
    }

    private void number(Object n, Write write) throws IOException {
        if (n == null) {
            writeNull();
            return;
        }
        _verifyValueWrite("write a number");
        try {
            write.run();
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeNumber(float f) throws IOException {
        writeNumber((double) f);
    }

    @Override
    public void writeNumber(double f) throws IOException {
        _verifyValueWrite("write a number");
        try {
            writer.writeDouble(f);
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeNumber(String encoded) throws IOException {
        try {
            writeNumber(new BigDecimal(encoded));
        } catch (NumberFormatException e) {
            throw new JsonGenerationException("not a number: " + encoded, e, this);
        }
    }

    @Override
    public void writeBoolean(boolean value) throws IOException {
        _verifyValueWrite("write a boolean");
        try {
            writer.writeBoolean(value);
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void writeNull() throws IOException {
        _verifyValueWrite("write null");
        try {
            writer.writeNull();
            written();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public void flush() throws IOException {
        if (isEnabled(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM)) {
            out.flush();
        }
    }

    @Override
    public void close() throws IOException {
        if (isClosed()) {
            return;
        }
        if (isEnabled(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT)) {
            while (!_writeContext.inRoot()) {
                closeOne();
            }
        }
        super.close();
        _releaseBuffers();
        if (_ioContext.isResourceManaged() || isEnabled(JsonGenerator.Feature.AUTO_CLOSE_TARGET)) {
            out.close();
        } else if (isEnabled(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM)) {
            out.flush();
        }
        _ioContext.close();
    }

    /** Ends the innermost object or array, as after an exception. A key that has no value gets null. */
    private void closeOne() throws IOException {
        if (_writeContext.inArray()) {
            writeEndArray();
            return;
        }
        if (_writeContext.hasCurrentName() && _writeContext.writeValue() != JsonWriteContext.STATUS_EXPECT_NAME) {
            writer.writeNull();
        }
        writeEndObject();
    }

    @Override
    protected void _releaseBuffers() {
        if (recycled != null) {
            byte[] grown = writer.memory();
            _ioContext.releaseWriteEncodingBuffer(grown.length <= KEPT ? grown : recycled);
            recycled = null;
        }
    }
}
