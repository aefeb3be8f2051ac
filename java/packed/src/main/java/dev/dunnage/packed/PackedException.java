package dev.dunnage.packed;

/** The reason why a message could not be encoded or decoded. */
public final class PackedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind. */
    private final Kind kind;
    /** In bytes from the start of the message; -1 in encoding. */
    private int offset;
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

    /** Takes the offset away: an error of encoding has no bytes to count. */
    PackedException withoutOffset() {
        offset = -1;
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
     * @return the offset in bytes from the start of the message; -1 in encoding
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

    /** Returns the kind, the reason, and the place: the JSON pointer if there is one, and the offset in decoding. */
    @Override
    public String getMessage() {
        String place = pointer.isEmpty() ? "" : " at " + pointer;
        return kind + ": " + super.getMessage() + place + (offset < 0 ? "" : " at byte " + offset);
    }
}
