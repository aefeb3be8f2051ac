package dev.dunnage.packed;

/** A delta that was decoded. */
public final class Decoded {
    private final Object value;
    private final Reference reference;
    private final int used;

    Decoded(Object value, Reference reference, int used) {
        this.value = value;
        this.reference = reference;
        this.used = used;
    }

    /**
     * Returns the message.
     *
     * @return the value, as {@link Layout#decode(byte[])} returns it
     */
    public Object value() {
        return value;
    }

    /**
     * Returns the message as the reference of later ones.
     *
     * @return the reference, whose name acknowledges the message
     */
    public Reference reference() {
        return reference;
    }

    /**
     * Returns the name of the message to which the delta referred.
     *
     * @return the name, 0 to 65,535
     */
    public int used() {
        return used;
    }
}
