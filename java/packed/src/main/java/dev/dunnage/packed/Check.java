package dev.dunnage.packed;

/**
 * The check at the end of a message. One routine computes both the CRC-8 with the polynomial 0x07 and the CRC-16 with 0x1021: the CRC-8 uses the
 * upper half of the register.
 */
final class Check {
    /** The bytes of the fingerprint that come before those of the message. */
    private static final int SEEDING = 4;

    /** The length of the check in bytes: 1 or 2. */
    final int bytes;
    private final int seed;

    /** {@code slot} is null if the slot is a byte of the message. */
    Check(int bytes, byte[] fingerprint, Integer slot) {
        this.bytes = bytes;
        int register = register(bytes == 1 ? 0xff00 : 0xffff, fingerprint, SEEDING);
        seed = slot == null ? register : register(register, new byte[] {slot.byteValue()}, 1);
    }

    /** Returns the check of the first {@code length} bytes, highest byte first. */
    byte[] of(byte[] message, int length) {
        int register = register(seed, message, length);
        return bytes == 1 ? new byte[] {(byte) (register >> 8)} : new byte[] {(byte) (register >> 8), (byte) register};
    }

    private int register(int start, byte[] message, int length) {
        int polynomial = bytes == 1 ? 0x0700 : 0x1021;
        int register = start;
        for (int i = 0; i < length; i++) {
            register ^= (message[i] & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                register = register << 1 ^ ((register & 0x8000) == 0 ? 0 : polynomial);
            }
            register &= 0xffff;
        }
        return register;
    }
}
