package dev.dunnage.bench.mobile;

import dev.dunnage.bench.Description;
import java.util.Arrays;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;

/** Thrift's binary protocol, called as the classes of its compiler do: fields 1 to 8 in the order of the class. */
final class ThriftBinary extends HandWritten {
    private static final int INITIAL_SIZE = 1024;
    private static final TStruct BOOK = new TStruct("Book");
    private static final TStruct VIDEO = new TStruct("Video");
    private static final Book.Type[] TYPES = Book.Type.values();

    @Override
    public Description description() {
        return Description.of("mobile-thrift");
    }

    @Override
    public Class<?> library() {
        return TBinaryProtocol.class;
    }

    @Override
    byte[] write(Book book) throws TException {
        TMemoryBuffer bytes = new TMemoryBuffer(INITIAL_SIZE);
        TProtocol out = new TBinaryProtocol(bytes);
        out.writeStructBegin(BOOK);
        writeText(out, 1, book.title);
        writeText(out, 2, book.author);
        writeText(out, 3, book.description);
        writeText(out, 4, book.image);
        writeNumber(out, 5, book.numInStock);
        out.writeFieldBegin(new TField("", TType.DOUBLE, (short) 6));
        out.writeDouble(book.price);
        writeNumber(out, 7, book.type.ordinal());
        writeFlag(out, 8, book.onSale);
        out.writeFieldStop();
        out.writeStructEnd();
        return content(bytes);
    }

    @Override
    byte[] write(Video video) throws TException {
        TMemoryBuffer bytes = new TMemoryBuffer(INITIAL_SIZE);
        TProtocol out = new TBinaryProtocol(bytes);
        out.writeStructBegin(VIDEO);
        writeText(out, 1, video.uri);
        writeText(out, 2, video.title);
        writeText(out, 3, video.format);
        writeNumber(out, 4, video.height);
        writeNumber(out, 5, video.width);
        writeNumber(out, 6, video.length);
        writeNumber(out, 7, video.views);
        writeFlag(out, 8, video.enabled);
        out.writeFieldStop();
        out.writeStructEnd();
        return content(bytes);
    }

    @Override
    Book readBook(byte[] bytes) throws Exception {
        Book book = new Book();
        TProtocol in = new TBinaryProtocol(new TMemoryInputTransport(bytes));
        in.readStructBegin();
        for (TField field = in.readFieldBegin(); field.type != TType.STOP; field = in.readFieldBegin()) {
            switch (field.id) {
                case 1 -> book.title = in.readString();
                case 2 -> book.author = in.readString();
                case 3 -> book.description = in.readString();
                case 4 -> book.image = in.readString();
                case 5 -> book.numInStock = in.readI32();
                case 6 -> book.price = in.readDouble();
                case 7 -> book.type = TYPES[in.readI32()];
                case 8 -> book.onSale = in.readBool();
                default -> throw unknown(field);
            }
        }
        return book;
    }

    @Override
    Video readVideo(byte[] bytes) throws Exception {
        Video video = new Video();
        TProtocol in = new TBinaryProtocol(new TMemoryInputTransport(bytes));
        in.readStructBegin();
        for (TField field = in.readFieldBegin(); field.type != TType.STOP; field = in.readFieldBegin()) {
            switch (field.id) {
                case 1 -> video.uri = in.readString();
                case 2 -> video.title = in.readString();
                case 3 -> video.format = in.readString();
                case 4 -> video.height = in.readI32();
                case 5 -> video.width = in.readI32();
                case 6 -> video.length = in.readI32();
                case 7 -> video.views = in.readI32();
                case 8 -> video.enabled = in.readBool();
                default -> throw unknown(field);
            }
        }
        return video;
    }

    private static void writeText(TProtocol out, int id, String value) throws TException {
        out.writeFieldBegin(new TField("", TType.STRING, (short) id));
        out.writeString(value);
    }

    private static void writeNumber(TProtocol out, int id, int value) throws TException {
        out.writeFieldBegin(new TField("", TType.I32, (short) id));
        out.writeI32(value);
    }

    private static void writeFlag(TProtocol out, int id, boolean value) throws TException {
        out.writeFieldBegin(new TField("", TType.BOOL, (short) id));
        out.writeBool(value);
    }

    private static byte[] content(TMemoryBuffer bytes) {
        return Arrays.copyOf(bytes.getArray(), bytes.length());
    }
}
