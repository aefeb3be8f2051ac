package dev.dunnage.pson;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Encodes and decodes whole messages.
 *
 * <p>Maps are {@code Map<String, Object>} in the order of the message, arrays {@code List<Object>}, integers {@code Long}, or {@code BigInteger} from 2^63 on, other
 * numbers {@code Double}, byte strings {@code byte[]}. Whole floats are integers, because the wire does not tell them apart. When encoding, also other
 * numbers, collections, arrays, enums and {@code Optional} are taken.
 *
 * <p>An instance does not change; threads may share it.
 */
public final class Pson {
    /** The default limits, lenient, and without rounding. */
    public static final Pson DEFAULT = new Pson(Limits.DEFAULT, false, false);

    private final Limits limits;
    private final boolean strict;
    private final boolean single;
    private final KeyCache keys = new KeyCache();

    private Pson(Limits limits, boolean strict, boolean single) {
        this.limits = limits;
        this.strict = strict;
        this.single = single;
    }

    /**
     * Returns the same with other limits.
     *
     * @param other the limits
     * @return an instance with these limits
     */
    public Pson withLimits(Limits other) {
        return new Pson(Objects.requireNonNull(other), strict, single);
    }

    /**
     * Returns the same, which rejects messages that are not in canonical form, or accepts them.
     *
     * @param isStrict whether they are rejected
     * @return an instance with this mode
     */
    public Pson withStrict(boolean isStrict) {
        return new Pson(limits, isStrict, single);
    }

    /**
     * Returns the same, which rounds numbers with a fraction to binary32, or does not.
     *
     * @param isSingle whether they are rounded, unless that makes a finite number infinite
     * @return an instance with this policy
     */
    public Pson withSinglePrecision(boolean isSingle) {
        return new Pson(limits, strict, isSingle);
    }

    /**
     * Encodes a value.
     *
     * @param value the value
     * @return the message
     * @throws PsonException if PSON cannot express it, with its pointer
     */
    public byte[] encode(Object value) {
        PsonWriter writer = writer();
        Documents.write(value, writer);
        return writer.toByteArray();
    }

    /**
     * Encodes a value into a buffer, all of it or nothing.
     *
     * @param value the value
     * @param out the buffer, whose position moves past the message
     */
    public void encode(Object value, ByteBuffer out) {
        PsonWriter writer = writer();
        Documents.write(value, writer);
        writer.writeTo(out);
    }

    /**
     * Decodes a message.
     *
     * @param message its bytes
     * @return the value
     * @throws PsonException if the bytes are not a message, with the offset of the fault
     */
    public Object decode(byte[] message) {
        return decode(reader(message, 0, message.length));
    }

    /**
     * Decodes a message.
     *
     * @param message a buffer with the message from its position to its limit, which stay as they are
     * @return the value
     */
    public Object decode(ByteBuffer message) {
        return decode(reader(message));
    }

    private static Object decode(PsonReader reader) {
        reader.next();
        Object value = Documents.read(reader);
        reader.next();
        return value;
    }

    /**
     * Returns a reader of a message.
     *
     * @param message an array that has it
     * @param offset the index of its first byte
     * @param length its number of bytes
     * @return a reader before the first item
     */
    public PsonReader reader(byte[] message, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, message.length);
        return new PsonReader(message, null, offset, offset + length, strict, limits, keys);
    }

    /**
     * Returns a reader of a message.
     *
     * @param message a buffer, on the heap or not, with the message from its position to its limit, which stay as they are
     * @return a reader before the first item
     */
    public PsonReader reader(ByteBuffer message) {
        if (message.hasArray()) {
            return reader(message.array(), message.arrayOffset() + message.position(), message.remaining());
        }
        return new PsonReader(null, message.duplicate(), message.position(), message.limit(), strict, limits, keys);
    }

    /**
     * Returns a writer of messages.
     *
     * @return a writer, whose memory is used again after {@link PsonWriter#reset}
     */
    public PsonWriter writer() {
        return writer(new byte[PsonWriter.ROOM]);
    }

    /**
     * Returns a writer of messages.
     *
     * @param memory the memory of the writer, until a message needs more; at least 16 bytes
     * @return a writer
     */
    public PsonWriter writer(byte[] memory) {
        return new PsonWriter(limits, single, keys, memory);
    }

    /**
     * Returns a reader of messages that follow each other in a stream.
     *
     * @param in the stream
     * @return a reader of whole messages
     */
    public PsonStream stream(InputStream in) {
        return new PsonStream(this, in, limits);
    }
}
