package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Description;
import dev.dunnage.bench.Serializer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import org.simpleframework.xml.core.Persister;

/** XML by the Simple framework, with the annotations of {@link Book} and {@link Video}. */
final class SimpleXml implements Serializer {
    private final Persister persister = new Persister();

    @Override
    public Description description() {
        return Description.of("mobile-xml");
    }

    @Override
    public Class<?> library() {
        return Persister.class;
    }

    @Override
    public byte[] serialize(Object message) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        persister.write(message, bytes, "UTF-8");
        return bytes.toByteArray();
    }

    @Override
    public <T> T deserialize(byte[] bytes, Class<T> type) throws Exception {
        return persister.read(type, new ByteArrayInputStream(bytes));
    }
}
