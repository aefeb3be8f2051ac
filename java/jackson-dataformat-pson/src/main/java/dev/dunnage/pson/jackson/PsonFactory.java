package dev.dunnage.pson.jackson;

import com.fasterxml.jackson.core.FormatSchema;
import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.core.format.InputAccessor;
import com.fasterxml.jackson.core.format.MatchStrength;
import com.fasterxml.jackson.core.io.IOContext;
import dev.dunnage.pson.Pson;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;

/**
 * Makes parsers and generators of PSON.
 *
 * <p>Limits, strict reading and single precision are those of a {@link Pson}, which the constructor takes.
 */
public class PsonFactory extends JsonFactory {
    /** The name of the format. */
    public static final String FORMAT_NAME = "PSON";
    static final Version VERSION = new Version(0, 1, 0, null, "dev.dunnage", "jackson-dataformat-pson");
    private static final long serialVersionUID = 1;

    private transient Pson pson;

    /** Creates a factory with the default limits, lenient, without rounding. */
    public PsonFactory() {
        this(Pson.DEFAULT);
    }

    /**
     * Creates a factory.
     *
     * @param pson its limits, mode and policy, such as {@code Pson.DEFAULT.withLimits(Limits.DEFAULT.withSize(1 << 24))}
     */
    public PsonFactory(Pson pson) {
        super((ObjectCodec) null);
        this.pson = pson;
    }

    /**
     * Creates a copy.
     *
     * @param other the factory to copy
     * @param codec its mapper
     */
    protected PsonFactory(PsonFactory other, ObjectCodec codec) {
        super(other, codec);
        pson = other.pson;
    }

    @Override
    public PsonFactory copy() {
        _checkInvalidCopy(PsonFactory.class);
        return new PsonFactory(this, null);
    }

    /** A factory that was serialized has the default limits. */
    @Override
    protected Object readResolve() {
        pson = Pson.DEFAULT;
        return new PsonFactory(this, _objectCodec);
    }

    @Override
    public Version version() {
        return VERSION;
    }

    @Override
    public String getFormatName() {
        return FORMAT_NAME;
    }

    @Override
    public boolean canUseSchema(FormatSchema schema) {
        return false;
    }

    @Override
    public boolean canHandleBinaryNatively() {
        return true;
    }

    @Override
    public boolean canUseCharArrays() {
        return false;
    }

    /** PSON has no magic number: an item of any kind begins with any byte. */
    @Override
    public MatchStrength hasFormat(InputAccessor input) {
        return MatchStrength.INCONCLUSIVE;
    }

    @Override
    protected PsonParser _createParser(InputStream in, IOContext context) {
        return new PsonParser(context, _parserFeatures, _objectCodec, pson, in);
    }

    @Override
    protected PsonParser _createParser(byte[] bytes, int offset, int length, IOContext context) {
        return new PsonParser(context, _parserFeatures, _objectCodec, pson, bytes, offset, length);
    }

    @Override
    protected JsonParser _createParser(Reader in, IOContext context) {
        throw characters();
    }

    @Override
    protected JsonParser _createParser(char[] text, int offset, int length, IOContext context, boolean isRecyclable) {
        throw characters();
    }

    @Override
    protected PsonGenerator _createUTF8Generator(OutputStream out, IOContext context) {
        return generator(out, context);
    }

    @Override
    public PsonGenerator createGenerator(OutputStream out, JsonEncoding encoding) throws IOException {
        return createGenerator(out);
    }

    @Override
    public PsonGenerator createGenerator(OutputStream out) throws IOException {
        IOContext context = _createContext(_createContentReference(out), false);
        context.setEncoding(JsonEncoding.UTF8);
        return generator(_decorate(out, context), context);
    }

    private PsonGenerator generator(OutputStream out, IOContext context) {
        return new PsonGenerator(context, _generatorFeatures, _objectCodec, pson, out);
    }

    @Override
    protected JsonGenerator _createGenerator(Writer out, IOContext context) {
        throw characters();
    }

    @Override
    protected Writer _createWriter(OutputStream out, JsonEncoding encoding, IOContext context) {
        throw characters();
    }

    private static UnsupportedOperationException characters() {
        return new UnsupportedOperationException("PSON is bytes, not characters");
    }
}
