package dev.dunnage.packed;

import java.util.List;

/** The part of a message that fits into the bytes of a link. {@code spec/packed.md}, "Messages that fit". */
public final class Fit {
    private final byte[] bytes;
    private final int readings;
    private final List<String> leftOut;

    Fit(byte[] bytes, int readings, List<String> leftOut) {
        this.bytes = bytes;
        this.readings = readings;
        this.leftOut = leftOut;
    }

    /**
     * Returns the message.
     *
     * @return the bytes
     */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Returns the number of readings in the message, the first ones of the longest series. The others are for the next message.
     *
     * @return the number; 0 for a message without a series
     */
    public int readings() {
        return readings;
    }

    /**
     * Returns the properties that were left out.
     *
     * @return their paths: {@code position.hdop}, {@code readings[].humidity}
     */
    public List<String> leftOut() {
        return leftOut;
    }
}
