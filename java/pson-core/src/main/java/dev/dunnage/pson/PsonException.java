package dev.dunnage.pson;

/** A message that cannot be decoded, or a value that cannot be encoded. */
public final class PsonException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Kind kind;
    private final int offset;
    private final String pointer;
    private final String reason;
    /** Whether the fault is that of the whole message, wherever it was noticed. */
    private final boolean isWhole;

    private PsonException(Kind kind, int offset, String pointer, String reason, boolean isWhole) {
        super(kind + ": " + reason + (pointer == null ? " at byte " + offset : pointer.isEmpty() ? "" : " at " + pointer));
        this.kind = kind;
        this.offset = offset;
        this.pointer = pointer;
        this.reason = reason;
        this.isWhole = isWhole;
    }

    static PsonException decoding(Kind kind, int offset, String reason) {
        return new PsonException(kind, offset, null, reason, false);
    }

    static PsonException encoding(Kind kind, String reason) {
        return new PsonException(kind, -1, "", reason, false);
    }

    /** Returns a fault of the whole message, whose pointer stays empty. */
    static PsonException ofMessage(Kind kind, String reason) {
        return new PsonException(kind, -1, "", reason, true);
    }

    /** Returns the same fault with a key or index in front of its pointer. */
    PsonException under(Object key) {
        if (isWhole) {
            return this;
        }
        String escaped = String.valueOf(key).replace("~", "~0").replace("/", "~1");
        return new PsonException(kind, offset, "/" + escaped + pointer, reason, false);
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
     * Returns where a message is at fault.
     *
     * @return the offset in bytes from the start of the message; -1 for a value that cannot be encoded
     */
    public int offset() {
        return offset;
    }

    /**
     * Returns which value cannot be encoded.
     *
     * @return a JSON pointer (RFC 6901), empty for the whole message; null for a message that cannot be decoded
     */
    public String pointer() {
        return pointer;
    }
}
