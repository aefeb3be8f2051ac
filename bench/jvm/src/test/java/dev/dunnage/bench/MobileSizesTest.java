package dev.dunnage.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.dunnage.bench.mobile.BookAndVideo;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The eight sizes of the mobile paper's Table 1, and those of PSON and packed, which are those of the program {@code dunnage}. */
class MobileSizesTest {
    static Stream<Arguments> sizes() {
        return Stream.of(
                Arguments.of("mobile-xml", "Book", 873), Arguments.of("mobile-xml", "Video", 231),
                Arguments.of("mobile-json", "Book", 781), Arguments.of("mobile-json", "Video", 139),
                Arguments.of("mobile-protobuf", "Book", 687), Arguments.of("mobile-protobuf", "Video", 59),
                Arguments.of("mobile-thrift", "Book", 720), Arguments.of("mobile-thrift", "Video", 92),
                Arguments.of("mobile-pson", "Book", 753), Arguments.of("mobile-pson", "Video", 107),
                Arguments.of("mobile-packed", "Book", 569), Arguments.of("mobile-packed", "Video", 45));
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void areExact(String id, String name, int size) throws Exception {
        Serializer serializer = BookAndVideo.serializer(id);
        Object object = BookAndVideo.object(name);
        byte[] bytes = serializer.serialize(object);
        assertEquals(size, bytes.length);
        assertNull(Difference.between(object, serializer.deserialize(bytes, object.getClass())));
    }
}
