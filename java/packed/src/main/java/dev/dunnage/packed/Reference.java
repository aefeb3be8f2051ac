package dev.dunnage.packed;

/**
 * A message that the receiver has, as the reference of deltas: {@link Layout#reference} makes it.
 *
 * <p>A reference does not change; threads may share it.
 */
public final class Reference {
    /** The fingerprint of the layout. */
    final byte[] fingerprint;
    final byte[] plain;
    final Parts parts;
    private final int name;

    Reference(byte[] fingerprint, int name, byte[] plain, Parts parts) {
        this.fingerprint = fingerprint;
        this.name = name;
        this.plain = plain;
        this.parts = parts;
    }

    /**
     * Returns the name of the message, which acknowledgements carry: a CRC of its plain bytes.
     *
     * @return the name, 0 to 65,535
     */
    public int name() {
        return name;
    }

    /**
     * Returns the message in mode 0, slot byte first, without a check. {@link Layout#referenceFrom} restores the reference from it.
     *
     * @return a copy of the bytes
     */
    public byte[] plain() {
        return plain.clone();
    }
}
