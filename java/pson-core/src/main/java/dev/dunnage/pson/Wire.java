package dev.dunnage.pson;

/** The header bytes of {@code spec/pson.md}, "A message": the upper three bits are the type, the lower five a number. */
final class Wire {
    static final int UNSIGNED = 0x00;
    static final int NEGATIVE = 0x20;
    static final int BINARY32 = 0x40;
    static final int BINARY64 = 0x41;
    static final int FALSE = 0x60;
    static final int TRUE = 0x61;
    static final int NULL = 0x62;
    static final int TEXT = 0x80;
    static final int BYTES = 0xa0;
    static final int MAP = 0xc0;
    static final int ARRAY = 0xe0;
    /** The lower five bits that announce a varint. */
    static final int VARINT = 31;

    private Wire() {}
}
