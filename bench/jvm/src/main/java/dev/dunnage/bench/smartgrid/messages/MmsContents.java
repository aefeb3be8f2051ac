package dev.dunnage.bench.smartgrid.messages;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;

/** The contents of the primitive types that IEC 61850-8-1 adds to BER: times, bit strings and floating-point numbers. */
final class MmsContents {
    private static final DateTimeFormatter MILLISECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** The day from which a binary time counts. */
    private static final Instant FIRST_DAY = Instant.parse("1984-01-01T00:00:00Z");

    /** The quality of all times: ten significant bits of the fraction, which are a millisecond. */
    private static final byte TIME_QUALITY = 10;

    private static final int FRACTION_BITS = 24;
    private static final int THOUSAND = 1000;
    private static final byte EXPONENT_BITS = 8;

    private MmsContents() {}

    /** UtcTime: seconds since 1970, 24 bits of their fraction, and the quality. */
    static byte[] utcTime(String text) {
        Instant instant = Instant.parse(text);
        long milliseconds = instant.toEpochMilli() % THOUSAND;
        long fraction = ((milliseconds << FRACTION_BITS) + THOUSAND / 2) / THOUSAND;
        return ByteBuffer.allocate(8).putInt((int) instant.getEpochSecond()).putInt((int) (fraction << 8 | TIME_QUALITY)).array();
    }

    static String utcTime(byte[] contents) {
        ByteBuffer buffer = ByteBuffer.wrap(contents);
        long seconds = Integer.toUnsignedLong(buffer.getInt());
        int rest = buffer.getInt();
        if ((byte) rest != TIME_QUALITY) {
            throw new IllegalArgumentException("the quality of the time changed");
        }
        long milliseconds = ((long) (rest >>> 8) * THOUSAND + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS;
        return MILLISECONDS.format(Instant.ofEpochMilli(seconds * THOUSAND + milliseconds));
    }

    /** TimeOfDay of six octets: milliseconds of the day, and days since 1984. */
    static byte[] binaryTime(String text) {
        Duration since = Duration.between(FIRST_DAY, Instant.parse(text));
        int milliseconds = (int) since.minusDays(since.toDays()).toMillis();
        return ByteBuffer.allocate(6).putInt(milliseconds).putShort((short) since.toDays()).array();
    }

    static String binaryTime(byte[] contents) {
        ByteBuffer buffer = ByteBuffer.wrap(contents);
        Duration ofDay = Duration.ofMillis(buffer.getInt());
        return MILLISECONDS.format(FIRST_DAY.plus(ofDay).plus(Duration.ofDays(Short.toUnsignedInt(buffer.getShort()))));
    }

    /** FloatingPoint of binary32: the number of bits of the exponent, and the number. */
    static byte[] floatingPoint(double value) {
        return ByteBuffer.allocate(5).put(EXPONENT_BITS).putFloat((float) value).array();
    }

    static float floatingPoint(byte[] contents) {
        ByteBuffer buffer = ByteBuffer.wrap(contents);
        if (buffer.get() != EXPONENT_BITS) {
            throw new IllegalArgumentException("not a binary32 number");
        }
        return buffer.getFloat();
    }

    /** The bits of a bit string of at most 16 bits; the first is the highest. */
    static byte[] bits(int value, int count) {
        byte[] two = ByteBuffer.allocate(2).putShort((short) (value << 16 - count)).array();
        return Arrays.copyOf(two, (count + 7) / 8);
    }

    static int bits(byte[] contents, int count) {
        return Short.toUnsignedInt(ByteBuffer.wrap(Arrays.copyOf(contents, 2)).getShort()) >> 16 - count;
    }
}
