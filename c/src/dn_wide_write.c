/* The writer's 64-bit integers and doubles. */
#include "dn_internal.h"

#include <float.h>
#include <string.h>

/* Writes an item that was composed elsewhere: all of it or nothing. */
void dn__append(dn_writer *w, const uint8_t *item, size_t n)
{
    if (!dn__room(w, n)) return;
    memcpy(w->at, item, n);
    w->at += n;
}

static void write_wide_header(dn_writer *w, uint64_t n, uint8_t type)
{
    uint8_t item[11];
    uint8_t *to = item;
    if (n >> 32 == 0) {
        dn__write_header(w, (uint32_t)n, type);
        return;
    }
    *to++ = type | 31;
    for (; n >= 0x80; n >>= 7) *to++ = (uint8_t)(n | 0x80);
    *to++ = (uint8_t)n;
    dn__append(w, item, (size_t)(to - item));
}

void dn_write_u64(dn_writer *w, uint64_t value) { write_wide_header(w, value, DN__HEAD_UINT); }

void dn_write_i64(dn_writer *w, int64_t value)
{
    if (value < 0) write_wide_header(w, 0 - (uint64_t)value, DN__HEAD_NEGATIVE);
    else write_wide_header(w, (uint64_t)value, DN__HEAD_UINT);
}

/* A binary64 is sign, exponent + 1023, and 52 bits of a mantissa whose 53rd bit is 1. */
#define EXPONENT(n) (1023 + (n))

/* Writes the number if it is an integer that the wire format can represent. Otherwise returns false. */
static bool write_as_integer(dn_writer *w, uint64_t mantissa, uint16_t exponent, bool negative)
{
    if (exponent < EXPONENT(0) || exponent > EXPONENT(63)) return false;
    /* Most fractions are recognized by their lowest byte, without a shift of 64 bits, which is a loop on AVR. */
    if ((uint8_t)mantissa && exponent <= EXPONENT(44)) return false;
    uint64_t n;
    if (exponent < EXPONENT(52)) {
        uint8_t fraction = (uint8_t)(EXPONENT(52) - exponent);
        n = mantissa >> fraction;
        if (n << fraction != mantissa) return false;
    } else {
        n = mantissa << (exponent - EXPONENT(52));
    }
    if (negative && n > (uint64_t)1 << 63) return false;
    write_wide_header(w, n, negative ? DN__HEAD_NEGATIVE : DN__HEAD_UINT);
    return true;
}

/* Writes the number as binary32 if that is exact. Otherwise returns false. */
static bool write_as_binary32(dn_writer *w, uint64_t mantissa, uint16_t exponent, bool negative)
{
    /* The lower bits that a binary32 does not have: 29, and more if it is denormal, below 2^-126. */
    uint8_t dropped = 29;
    if (exponent > EXPONENT(127) || exponent < EXPONENT(-149) || (uint32_t)mantissa << 3) return false;
    if (exponent < EXPONENT(-126)) dropped = (uint8_t)(29 + EXPONENT(-126) - exponent);
    uint32_t bits = (uint32_t)(mantissa >> dropped);
    if ((uint64_t)bits << dropped != mantissa) return false;
    /* The 24th bit of the mantissa adds the 1 that the exponent lacks; a denormal number has neither. */
    if (dropped == 29) bits += (uint32_t)(exponent - EXPONENT(-126)) << 23;
    dn__binary32(w, bits | (uint32_t)negative << 31);
    return true;
}

void dn__write_double_bits(dn_writer *w, uint64_t bits)
{
    uint16_t upper = dn__upper(&bits);
    bool negative = upper >> 15;
    uint16_t exponent = upper >> 4 & 0x7ff;
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    if (bits == 0) {
        dn__write_byte(w, DN__HEAD_UINT);
    } else if (exponent == 0x7ff || bits << 1 == 0) {
        dn__binary32(w, exponent == 0 ? 0x80000000 : mantissa ? 0x7fc00000 : negative ? 0xff800000 : 0x7f800000);
    } else {
        if (exponent) mantissa |= (uint64_t)1 << 52;
        if (write_as_integer(w, mantissa, exponent, negative) || write_as_binary32(w, mantissa, exponent, negative)) return;
        uint8_t item[9];
        item[0] = DN__HEAD_FLOAT | 1;
#if defined(__AVR__)
        memcpy(item + 1, &bits, sizeof bits);
#else
        for (uint8_t i = 1; i < 9; ++i, bits >>= 8) item[i] = (uint8_t)bits;
#endif
        dn__append(w, item, 9);
    }
}

#if DBL_MANT_DIG == FLT_MANT_DIG

void dn_write_double(dn_writer *w, double value) { dn_write_float(w, (float)value); }

#else

void dn_write_double(dn_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    dn__write_double_bits(w, bits);
}

#endif
