package dev.dunnage.pson.jackson;

import com.fasterxml.jackson.core.Base64Variant;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.base.ParserMinimalBase;
import com.fasterxml.jackson.core.io.IOContext;
import dev.dunnage.pson.Decimals;
import dev.dunnage.pson.PsonException;
import dev.dunnage.pson.PsonReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;

/** The value of the current token: text, numbers, byte strings. */
abstract class ValueParser extends ParserMinimalBase {
    final IOContext context;
    /** The current message; null before the first of a stream and at the end. */
    PsonReader reader;
    /** The current text or key, once it was asked for. */
    String text;

    ValueParser(int features, IOContext context) {
        super(features, context.streamReadConstraints());
        this.context = context;
    }

    final JsonParseException failed(PsonException e) {
        return new JsonParseException(this, e.getMessage(), location(e.offset()), e);
    }

    final JsonLocation location(long offset) {
        return new JsonLocation(context.contentReference(), offset, -1, -1, -1);
    }

    @Override
    public String getText() throws IOException {
        if (_currToken == JsonToken.VALUE_STRING || _currToken == JsonToken.FIELD_NAME) {
            return text != null ? text : (text = reader.stringValue());
        }
        if (_currToken == null) {
            return null;
        }
        if (_currToken.isNumeric()) {
            return String.valueOf(getNumberValue());
        }
        return _currToken.asString();
    }

    @Override
    public char[] getTextCharacters() throws IOException {
        String all = getText();
        return all == null ? null : all.toCharArray();
    }

    @Override
    public boolean hasTextCharacters() {
        return false;
    }

    @Override
    public int getTextLength() throws IOException {
        String all = getText();
        return all == null ? 0 : all.length();
    }

    @Override
    public int getTextOffset() {
        return 0;
    }

    @Override
    public byte[] getBinaryValue(Base64Variant variant) throws IOException {
        if (_currToken == JsonToken.VALUE_EMBEDDED_OBJECT) {
            return reader.bytesValue();
        }
        if (_currToken != JsonToken.VALUE_STRING) {
            _reportError("Current token (" + _currToken + ") is not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary");
        }
        return _decodeBase64(getText(), variant);
    }

    private byte[] _decodeBase64(String base64, Base64Variant variant) throws IOException {
        try {
            return variant.decode(base64);
        } catch (IllegalArgumentException e) {
            throw new JsonParseException(this, e.getMessage(), e);
        }
    }

    @Override
    public Object getEmbeddedObject() {
        return _currToken == JsonToken.VALUE_EMBEDDED_OBJECT ? reader.bytesValue() : null;
    }

    @Override
    public NumberTypeFP getNumberTypeFP() {
        return _currToken == JsonToken.VALUE_NUMBER_FLOAT ? NumberTypeFP.DOUBLE64 : NumberTypeFP.UNKNOWN;
    }

    private void requireNumber() throws IOException {
        if (_currToken == null || !_currToken.isNumeric()) {
            _reportError("Current token (" + _currToken + ") not numeric, can not use numeric value accessors");
        }
    }

    @Override
    public NumberType getNumberType() throws IOException {
        if (_currToken == JsonToken.VALUE_NUMBER_FLOAT) {
            return NumberType.DOUBLE;
        }
        if (_currToken != JsonToken.VALUE_NUMBER_INT) {
            return null;
        }
        if (!reader.isLong()) {
            return NumberType.BIG_INTEGER;
        }
        long n = reader.longValue();
        return n == (int) n ? NumberType.INT : NumberType.LONG;
    }

    @Override
    public Number getNumberValue() throws IOException {
        requireNumber();
        try {
            if (_currToken == JsonToken.VALUE_NUMBER_FLOAT) {
                return reader.doubleValue();
            }
            if (!reader.isLong()) {
                return reader.bigIntegerValue();
            }
            long n = reader.longValue();
            return n == (int) n ? (Number) (int) n : (Number) n;
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public int getIntValue() throws IOException {
        long n = getLongValue();
        if (n != (int) n) {
            reportOverflowInt(String.valueOf(n));
        }
        return (int) n;
    }

    /** A fraction is cut off, as in Jackson's other formats. */
    @Override
    public long getLongValue() throws IOException {
        requireNumber();
        if (_currToken == JsonToken.VALUE_NUMBER_INT && reader.isLong()) {
            return reader.longValue();
        }
        BigInteger n = getBigIntegerValue();
        if (n.bitLength() > 63) {
            reportOverflowLong(n.toString());
        }
        return n.longValue();
    }

    @Override
    public BigInteger getBigIntegerValue() throws IOException {
        requireNumber();
        try {
            return _currToken == JsonToken.VALUE_NUMBER_INT ? reader.bigIntegerValue() : getDecimalValue().toBigInteger();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public float getFloatValue() throws IOException {
        return (float) getDoubleValue();
    }

    @Override
    public double getDoubleValue() throws IOException {
        requireNumber();
        try {
            if (_currToken == JsonToken.VALUE_NUMBER_FLOAT) {
                return reader.doubleValue();
            }
            return reader.isLong() ? (double) reader.longValue() : reader.bigIntegerValue().doubleValue();
        } catch (PsonException e) {
            throw failed(e);
        }
    }

    @Override
    public BigDecimal getDecimalValue() throws IOException {
        requireNumber();
        if (_currToken == JsonToken.VALUE_NUMBER_INT) {
            return new BigDecimal(getBigIntegerValue());
        }
        double f = reader.doubleValue();
        if (Double.isNaN(f) || Double.isInfinite(f)) {
            _reportError(f + " is no decimal");
        }
        // The decimal that was encoded.
        return Decimals.shortest(f);
    }

    @Override
    public boolean isNaN() {
        return _currToken == JsonToken.VALUE_NUMBER_FLOAT && !Double.isFinite(reader.doubleValue());
    }
}
