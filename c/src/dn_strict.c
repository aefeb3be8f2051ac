#include "dn_pson.h"

/* Returns whether the lowest `count` (0 to 52) bits of a mantissa are 0. `high` and `low` are the halves of the bits of a
 * binary64, because shifts of 64 bits would be linked on an 8-bit target. */
static bool ends_in_zeros(uint32_t high, uint32_t low, uint8_t count)
{
    if (count >= 32) return low == 0 && (high & (((uint32_t)1 << (count - 32)) - 1)) == 0;
    return (low & (((uint32_t)1 << count) - 1)) == 0;
}

static uint32_t load32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* A binary32 is canonical if it is not an integer in -2^63 to 2^64-1, except -0. NaN has one canonical form. */
static bool is_canonical_float(const uint8_t *bytes)
{
    uint32_t bits = load32(bytes);
    uint8_t exponent = (uint8_t)(bits >> 23);
    bool negative = bits >> 31;
    uint32_t mantissa = bits & 0x7fffff;
    if (exponent == 0xff) return mantissa == 0 || bits == 0x7fc00000;
    if (exponent < 127) return negative || mantissa || exponent; /* below 1: 0 is an integer on the wire, -0 is not */
    if (exponent < 150) return !ends_in_zeros(0, mantissa, (uint8_t)(150 - exponent));
    if (exponent < 127 + 63) return false;
    return exponent > 127 + 63 || (negative && mantissa); /* 2^64 and above; below -2^63 */
}

/* A binary64 is canonical if it is neither such an integer nor a binary32, as infinities, NaN and -0 are. */
static bool is_canonical_double(const uint8_t *bytes)
{
    uint32_t low = load32(bytes);
    uint32_t high = load32(bytes + 4);
    uint16_t exponent = (high >> 20) & 0x7ff;
    if (exponent == 0x7ff || (exponent == 0 && ends_in_zeros(high, low, 52))) return false;
    if (exponent >= 1023 && exponent < 1023 + 64) {
        uint8_t fraction = (uint8_t)(exponent < 1023 + 52 ? 1023 + 52 - exponent : 0);
        bool whole = ends_in_zeros(high, low, fraction);
        bool below = exponent == 1023 + 63 && high >> 31; /* -2^63 itself is a binary32, too */
        if (whole && !below) return false;
    }
    if (exponent < 1023 - 149 || exponent > 1023 + 127) return true;
    /* A binary32 has 29 fewer mantissa bits; below 2^-126 it is subnormal and loses one more with each power of 2. */
    uint8_t lost = (uint8_t)(29 + (exponent < 1023 - 126 ? 1023 - 126 - exponent : 0));
    return !ends_in_zeros(high, low, lost);
}

/* Returns whether the current item is canonical. Its header, varint and float are complete. Reads only these, not r->at. */
static bool is_canonical(dn_reader *r)
{
    const uint8_t *bytes = r->item + 1;
    uint8_t header = r->item[0];
    if (header == 0x40) return is_canonical_float(bytes);
    if (header == 0x41) return is_canonical_double(bytes);
    if (header == 0x20) return false; /* -0 */
    if ((header & 0x1f) != 0x1f) return true;
    if (bytes[0] < 0x80) return bytes[0] > 30;
    do bytes++;
    while (*bytes >= 0x80);
    return *bytes != 0;
}

void dn_reader_strict(dn_reader *r)
{
    r->strict = is_canonical;
}
