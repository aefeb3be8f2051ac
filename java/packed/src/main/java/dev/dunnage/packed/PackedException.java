package dev.dunnage.packed;

/** The reason why a message could not be encoded or decoded. */
public final class PackedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind. */
    private final Kind kind;
    /** In bytes from the start of the message. */
    private final int offset;
    /** Grows at its beginning while the error passes through arrays and objects. */
    private String pointer = "";

    PackedException(Kind kind, int offset, String reason) {
        super(reason);
        this.kind = kind;
        this.offset = offset;
    }

    /** Puts {@code key} before the pointer. */
    PackedException under(String key) {
        pointer = "/" + key.replace("~", "~0").replace("/", "~1") + pointer;
        return this;
    }

    PackedException under(int index) {
        pointer = "/" + index + pointer;
        return this;
    }

    /**
     * Returns the kind of the error.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the byte of the message that holds the first bit of the invalid part.
     *
     * @return the offset in bytes from the start of the message; 0 in encoding
     */
    public int offset() {
        return offset;
    }

    /**
     * Returns the place of the invalid value.
     *
     * @return a JSON pointer (RFC 6901), empty for the whole message
     */
    public String pointer() {
        return pointer;
    }

    /** Returns the kind, the reason, and the place as a JSON pointer or an offset. */
    @Override
    public String getMessage() {
        String place = pointer.isEmpty() ? " at byte " + offset : " at " + pointer;
        return kind + ": " + super.getMessage() + place;
    }
}
