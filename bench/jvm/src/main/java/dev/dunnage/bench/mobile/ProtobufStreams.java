package dev.dunnage.bench.mobile;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import dev.dunnage.bench.Description;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** Protobuf by the coded streams that protoc's classes use: fields 1 to 8 in the order of the class, all present. */
final class ProtobufStreams extends HandWritten {
    private static final Book.Type[] TYPES = Book.Type.values();

    @Override
    public Description description() {
        return Description.of("mobile-protobuf");
    }

    @Override
    public Class<?> library() {
        return CodedOutputStream.class;
    }

    @Override
    byte[] write(Book book) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeString(1, book.title);
        out.writeString(2, book.author);
        out.writeString(3, book.description);
        out.writeString(4, book.image);
        out.writeInt32(5, book.numInStock);
        out.writeDouble(6, book.price);
        out.writeEnum(7, book.type.ordinal());
        out.writeBool(8, book.onSale);
        out.flush();
        return bytes.toByteArray();
    }

    @Override
    byte[] write(Video video) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeString(1, video.uri);
        out.writeString(2, video.title);
        out.writeString(3, video.format);
        out.writeInt32(4, video.height);
        out.writeInt32(5, video.width);
        out.writeInt32(6, video.length);
        out.writeInt32(7, video.views);
        out.writeBool(8, video.enabled);
        out.flush();
        return bytes.toByteArray();
    }

    @Override
    Book readBook(byte[] bytes) throws IOException {
        Book book = new Book();
        CodedInputStream in = CodedInputStream.newInstance(bytes);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(tag)) {
                case 1 -> book.title = in.readString();
                case 2 -> book.author = in.readString();
                case 3 -> book.description = in.readString();
                case 4 -> book.image = in.readString();
                case 5 -> book.numInStock = in.readInt32();
                case 6 -> book.price = in.readDouble();
                case 7 -> book.type = TYPES[in.readEnum()];
                case 8 -> book.onSale = in.readBool();
                default -> throw unknown(tag);
            }
        }
        return book;
    }

    @Override
    Video readVideo(byte[] bytes) throws IOException {
        Video video = new Video();
        CodedInputStream in = CodedInputStream.newInstance(bytes);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(tag)) {
                case 1 -> video.uri = in.readString();
                case 2 -> video.title = in.readString();
                case 3 -> video.format = in.readString();
                case 4 -> video.height = in.readInt32();
                case 5 -> video.width = in.readInt32();
                case 6 -> video.length = in.readInt32();
                case 7 -> video.views = in.readInt32();
                case 8 -> video.enabled = in.readBool();
                default -> throw unknown(tag);
            }
        }
        return video;
    }
}
