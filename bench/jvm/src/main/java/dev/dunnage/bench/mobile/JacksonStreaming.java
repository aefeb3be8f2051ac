package dev.dunnage.bench.mobile;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.dunnage.bench.Description;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** JSON by Jackson's streaming interface. */
final class JacksonStreaming extends HandWritten {
    private final JsonFactory json = new JsonFactory();

    @Override
    public Description description() {
        return Description.of("mobile-json");
    }

    @Override
    public Class<?> library() {
        return JsonFactory.class;
    }

    @Override
    byte[] write(Book book) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = json.createGenerator(bytes)) {
            out.writeStartObject();
            out.writeStringField("title", book.title);
            out.writeStringField("author", book.author);
            out.writeStringField("description", book.description);
            out.writeStringField("image", book.image);
            out.writeNumberField("numInStock", book.numInStock);
            out.writeNumberField("price", book.price);
            out.writeStringField("type", book.type.name());
            out.writeBooleanField("onSale", book.onSale);
            out.writeEndObject();
        }
        return bytes.toByteArray();
    }

    @Override
    byte[] write(Video video) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = json.createGenerator(bytes)) {
            out.writeStartObject();
            out.writeStringField("uri", video.uri);
            out.writeStringField("title", video.title);
            out.writeStringField("format", video.format);
            out.writeNumberField("height", video.height);
            out.writeNumberField("width", video.width);
            out.writeNumberField("length", video.length);
            out.writeNumberField("views", video.views);
            out.writeBooleanField("enabled", video.enabled);
            out.writeEndObject();
        }
        return bytes.toByteArray();
    }

    @Override
    Book readBook(byte[] bytes) throws IOException {
        Book book = new Book();
        try (JsonParser in = json.createParser(bytes)) {
            in.nextToken();
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                switch (name) {
                    case "title" -> book.title = in.getText();
                    case "author" -> book.author = in.getText();
                    case "description" -> book.description = in.getText();
                    case "image" -> book.image = in.getText();
                    case "numInStock" -> book.numInStock = in.getIntValue();
                    case "price" -> book.price = in.getDoubleValue();
                    case "type" -> book.type = Book.Type.valueOf(in.getText());
                    case "onSale" -> book.onSale = in.getBooleanValue();
                    default -> throw unknown(name);
                }
            }
        }
        return book;
    }

    @Override
    Video readVideo(byte[] bytes) throws IOException {
        Video video = new Video();
        try (JsonParser in = json.createParser(bytes)) {
            in.nextToken();
            while (in.nextToken() == JsonToken.FIELD_NAME) {
                String name = in.currentName();
                in.nextToken();
                switch (name) {
                    case "uri" -> video.uri = in.getText();
                    case "title" -> video.title = in.getText();
                    case "format" -> video.format = in.getText();
                    case "height" -> video.height = in.getIntValue();
                    case "width" -> video.width = in.getIntValue();
                    case "length" -> video.length = in.getIntValue();
                    case "views" -> video.views = in.getIntValue();
                    case "enabled" -> video.enabled = in.getBooleanValue();
                    default -> throw unknown(name);
                }
            }
        }
        return video;
    }
}
