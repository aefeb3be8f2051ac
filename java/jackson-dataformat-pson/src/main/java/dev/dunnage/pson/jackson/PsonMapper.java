package dev.dunnage.pson.jackson;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.Version;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.MapperBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/** An {@link ObjectMapper} for PSON: {@code new PsonMapper()} in place of {@code new ObjectMapper()}. */
public class PsonMapper extends ObjectMapper {
    private static final long serialVersionUID = 1;

    /** Creates a mapper with the default factory. */
    public PsonMapper() {
        this(new PsonFactory());
    }

    /**
     * Creates a mapper.
     *
     * @param factory what makes its parsers and generators
     */
    public PsonMapper(PsonFactory factory) {
        super(factory);
    }

    /**
     * Creates a copy.
     *
     * @param other the mapper to copy
     */
    protected PsonMapper(PsonMapper other) {
        super(other);
    }

    /**
     * Returns a builder of mappers.
     *
     * @return a builder with the default factory
     */
    public static Builder builder() {
        return builder(new PsonFactory());
    }

    /**
     * Returns a builder of mappers.
     *
     * @param factory what makes their parsers and generators
     * @return a builder
     */
    public static Builder builder(PsonFactory factory) {
        return new Builder(new PsonMapper(factory));
    }

    @Override
    public PsonMapper copy() {
        _checkInvalidCopy(PsonMapper.class);
        return new PsonMapper(this);
    }

    @Override
    public PsonFactory getFactory() {
        return (PsonFactory) _jsonFactory;
    }

    /** A message is written as a whole, so that it needs no memory besides its own. */
    @Override
    public byte[] writeValueAsBytes(Object value) throws JsonProcessingException {
        Messages out = new Messages();
        try {
            _writeValueAndClose(createGenerator(out), value);
        } catch (JsonProcessingException e) {
            throw e;
        } catch (IOException e) {
            throw JsonMappingException.fromUnexpectedIOE(e);
        }
        return out.bytes;
    }

    /** Receives the output, which is one message except for serializers that write several values. */
    private static final class Messages extends OutputStream {
        private byte[] bytes = {};

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) {
            int had = bytes.length;
            if (had == 0) {
                bytes = Arrays.copyOfRange(from, offset, offset + length);
            } else {
                bytes = Arrays.copyOf(bytes, had + length);
                System.arraycopy(from, offset, bytes, had, length);
            }
        }
    }

    @Override
    public Version version() {
        return PsonFactory.VERSION;
    }

    /** Builds mappers. */
    public static class Builder extends MapperBuilder<PsonMapper, Builder> {
        Builder(PsonMapper mapper) {
            super(mapper);
        }
    }
}
