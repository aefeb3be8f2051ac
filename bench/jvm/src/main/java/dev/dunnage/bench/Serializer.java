package dev.dunnage.bench;

/** A library that turns objects into bytes and back, set up as its documentation recommends. */
public interface Serializer {
    /** The description of this serializer in serializers.json. */
    Description description();

    /** A class of the library; the file that contains it tells the version. */
    Class<?> library();

    byte[] serialize(Object message) throws Exception;

    <T> T deserialize(byte[] bytes, Class<T> type) throws Exception;

    /** The version of the library that runs. */
    default String version() {
        return LibraryVersion.of(library());
    }
}
