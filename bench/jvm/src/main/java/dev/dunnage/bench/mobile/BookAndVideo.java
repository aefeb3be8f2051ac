package dev.dunnage.bench.mobile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.dunnage.bench.Serializer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** The two objects, the paper's four serializers, and those of this project. */
public final class BookAndVideo {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNode FILE = read();

    private BookAndVideo() {}

    /** The names of the objects, as in the paper's tables. */
    public static List<String> names() {
        return List.of("Book", "Video");
    }

    /** The object of this name. */
    public static Object object(String name) {
        Class<?> type = name.equals("Book") ? Book.class : Video.class;
        return JSON.convertValue(FILE.get(name.toLowerCase()), type);
    }

    /** The paper's serializers, in its order, then ours. */
    public static List<Serializer> serializers() {
        return List.of(new SimpleXml(), new JacksonStreaming(), new ProtobufStreams(), new ThriftBinary(), new PsonItems(), new PackedMaps());
    }

    /** The serializer with this id. */
    public static Serializer serializer(String id) {
        return serializers().stream()
                .filter(serializer -> serializer.description().id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(id + ": not a serializer of the suite mobile"));
    }

    private static JsonNode read() {
        try (InputStream file = BookAndVideo.class.getResourceAsStream("/book-video.json")) {
            return JSON.readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException("book-video.json: " + e.getMessage(), e);
        }
    }
}
