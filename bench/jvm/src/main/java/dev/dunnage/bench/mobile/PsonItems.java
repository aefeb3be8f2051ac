package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Description;
import dev.dunnage.pson.Pson;
import dev.dunnage.pson.PsonReader;
import dev.dunnage.pson.PsonWriter;
import dev.dunnage.pson.Token;
import java.io.IOException;

/** PSON by pson-core, item by item. */
final class PsonItems extends HandWritten {
    private static final int FIELDS = 8;

    @Override
    public Description description() {
        return Description.of("mobile-pson");
    }

    @Override
    public Class<?> library() {
        return Pson.class;
    }

    @Override
    byte[] write(Book book) {
        PsonWriter out = Pson.DEFAULT.writer();
        out.startMap(FIELDS);
        writeText(out, "title", book.title);
        writeText(out, "author", book.author);
        writeText(out, "description", book.description);
        writeText(out, "image", book.image);
        writeNumber(out, "numInStock", book.numInStock);
        out.key("price");
        out.writeDouble(book.price);
        writeText(out, "type", book.type.name());
        writeFlag(out, "onSale", book.onSale);
        out.end();
        return out.toByteArray();
    }

    @Override
    byte[] write(Video video) {
        PsonWriter out = Pson.DEFAULT.writer();
        out.startMap(FIELDS);
        writeText(out, "uri", video.uri);
        writeText(out, "title", video.title);
        writeText(out, "format", video.format);
        writeNumber(out, "height", video.height);
        writeNumber(out, "width", video.width);
        writeNumber(out, "length", video.length);
        writeNumber(out, "views", video.views);
        writeFlag(out, "enabled", video.enabled);
        out.end();
        return out.toByteArray();
    }

    @Override
    Book readBook(byte[] bytes) throws IOException {
        Book book = new Book();
        PsonReader in = Pson.DEFAULT.reader(bytes, 0, bytes.length);
        in.next();
        while (in.next() == Token.KEY) {
            String name = in.stringValue();
            in.next();
            switch (name) {
                case "title" -> book.title = in.stringValue();
                case "author" -> book.author = in.stringValue();
                case "description" -> book.description = in.stringValue();
                case "image" -> book.image = in.stringValue();
                case "numInStock" -> book.numInStock = (int) in.longValue();
                case "price" -> book.price = in.doubleValue();
                case "type" -> book.type = Book.Type.valueOf(in.stringValue());
                case "onSale" -> book.onSale = in.booleanValue();
                default -> throw unknown(name);
            }
        }
        return book;
    }

    @Override
    Video readVideo(byte[] bytes) throws IOException {
        Video video = new Video();
        PsonReader in = Pson.DEFAULT.reader(bytes, 0, bytes.length);
        in.next();
        while (in.next() == Token.KEY) {
            String name = in.stringValue();
            in.next();
            switch (name) {
                case "uri" -> video.uri = in.stringValue();
                case "title" -> video.title = in.stringValue();
                case "format" -> video.format = in.stringValue();
                case "height" -> video.height = (int) in.longValue();
                case "width" -> video.width = (int) in.longValue();
                case "length" -> video.length = (int) in.longValue();
                case "views" -> video.views = (int) in.longValue();
                case "enabled" -> video.enabled = in.booleanValue();
                default -> throw unknown(name);
            }
        }
        return video;
    }

    private static void writeText(PsonWriter out, String key, String value) {
        out.key(key);
        out.writeString(value);
    }

    private static void writeNumber(PsonWriter out, String key, int value) {
        out.key(key);
        out.writeLong(value);
    }

    private static void writeFlag(PsonWriter out, String key, boolean value) {
        out.key(key);
        out.writeBoolean(value);
    }
}
