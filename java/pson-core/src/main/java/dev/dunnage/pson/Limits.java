package dev.dunnage.pson;

/** The limits of messages. They are the same in every library of Dunnage, and may be raised or lowered. */
public final class Limits {
    /** 32 levels of maps and arrays, and 1,048,576 bytes. */
    public static final Limits DEFAULT = new Limits(32, 1 << 20);

    /** The highest nesting that may be configured. Documents are read with a call per level. */
    private static final int HIGHEST_NESTING = 512;

    final int nesting;
    final int size;

    private Limits(int nesting, int size) {
        this.nesting = nesting;
        this.size = size;
    }

    /**
     * Returns these limits with another nesting.
     *
     * @param levels the most levels of maps and arrays, 0 to 512
     * @return the limits
     */
    public Limits withNesting(int levels) {
        return new Limits(checked("nesting", levels, HIGHEST_NESTING), size);
    }

    /**
     * Returns these limits with another size.
     *
     * @param bytes the most bytes of a message
     * @return the limits
     */
    public Limits withSize(int bytes) {
        return new Limits(nesting, checked("size", bytes, Integer.MAX_VALUE - 64));
    }

    private static int checked(String name, int value, int highest) {
        if (value < 0 || value > highest) {
            throw new IllegalArgumentException(name + " must be from 0 to " + highest);
        }
        return value;
    }
}
