package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Description;
import dev.dunnage.packed.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Packed, from and to Maps, with the layouts that {@code dunnage schema layout} exports of the schemas in {@code resources/mobile}. */
final class PackedMaps extends HandWritten {
    private static final Layout BOOK = layout("book");
    private static final Layout VIDEO = layout("video");

    @Override
    public Description description() {
        return Description.of("mobile-packed");
    }

    @Override
    public Class<?> library() {
        return Layout.class;
    }

    @Override
    byte[] write(Book book) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("title", book.title);
        map.put("author", book.author);
        map.put("description", book.description);
        map.put("image", book.image);
        map.put("numInStock", book.numInStock);
        map.put("price", book.price);
        map.put("type", book.type.name());
        map.put("onSale", book.onSale);
        return BOOK.encode(map);
    }

    @Override
    byte[] write(Video video) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("uri", video.uri);
        map.put("title", video.title);
        map.put("format", video.format);
        map.put("height", video.height);
        map.put("width", video.width);
        map.put("length", video.length);
        map.put("views", video.views);
        map.put("enabled", video.enabled);
        return VIDEO.encode(map);
    }

    @Override
    Book readBook(byte[] bytes) {
        Map<?, ?> map = (Map<?, ?>) BOOK.decode(bytes);
        Book book = new Book();
        book.title = (String) map.get("title");
        book.author = (String) map.get("author");
        book.description = (String) map.get("description");
        book.image = (String) map.get("image");
        book.numInStock = number(map, "numInStock").intValue();
        book.price = number(map, "price").doubleValue();
        book.type = Book.Type.valueOf((String) map.get("type"));
        book.onSale = (Boolean) map.get("onSale");
        return book;
    }

    @Override
    Video readVideo(byte[] bytes) {
        Map<?, ?> map = (Map<?, ?>) VIDEO.decode(bytes);
        Video video = new Video();
        video.uri = (String) map.get("uri");
        video.title = (String) map.get("title");
        video.format = (String) map.get("format");
        video.height = number(map, "height").intValue();
        video.width = number(map, "width").intValue();
        video.length = number(map, "length").intValue();
        video.views = number(map, "views").intValue();
        video.enabled = (Boolean) map.get("enabled");
        return video;
    }

    private static Number number(Map<?, ?> map, String key) {
        return (Number) map.get(key);
    }

    private static Layout layout(String name) {
        try (InputStream file = PackedMaps.class.getResourceAsStream("/mobile/" + name + ".layout.json")) {
            return Layout.parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(name + ".layout.json: " + e.getMessage(), e);
        }
    }
}
