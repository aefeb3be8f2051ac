package dev.dunnage.bench.smartgrid.serializers;

import com.thoughtworks.xstream.XStream;
import com.thoughtworks.xstream.converters.SingleValueConverter;
import com.thoughtworks.xstream.io.HierarchicalStreamDriver;
import dev.dunnage.bench.smartgrid.Model;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Date;

/** A format of XStream, with the simple names of the classes. */
abstract class XStreamSerializer extends Described {
    private final XStream xstream;

    XStreamSerializer(String id, HierarchicalStreamDriver driver, Model model) {
        super(id, XStream.class);
        xstream = new XStream(driver);
        // The messages are trees: no object occurs twice.
        xstream.setMode(XStream.NO_REFERENCES);
        xstream.registerConverter(new Milliseconds());
        for (Class<?> type : model.types()) {
            xstream.alias(type.getSimpleName(), type);
            xstream.allowTypes(new Class<?>[] {type});
        }
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        // XStream writes to a stream in the encoding of the platform.
        try (Writer out = new OutputStreamWriter(bytes, StandardCharsets.UTF_8)) {
            xstream.toXML(message, out);
        }
        return bytes.toByteArray();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) {
        return type.cast(xstream.fromXML(new ByteArrayInputStream(bytes)));
    }

    /** Writes a time as milliseconds since 1970. */
    private static final class Milliseconds implements SingleValueConverter {
        @Override
        public boolean canConvert(Class type) {
            return type == Date.class;
        }

        @Override
        public String toString(Object date) {
            return Long.toString(((Date) date).getTime());
        }

        @Override
        public Object fromString(String text) {
            return new Date(Long.parseLong(text));
        }
    }
}
