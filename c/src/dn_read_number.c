/* The getters of numbers of up to 32 bits. What a number is, is decided on its bits: soft-float would cost AVR more than all the rest. */
#include "dn_internal.h"

#include <string.h>

/* Binary32's significand has 24 bits, the top one unwritten. */
#define TOP_BIT ((uint32_t)1 << 23)
#define BIAS 127

static bool is_integer(const dn_reader *r)
{
    return r->type == DN_UINT || r->type == DN_NEGATIVE;
}

/* Makes r->n the magnitude of the current number, when that is whole and has up to 32 bits, and gives DN_UINT or DN_NEGATIVE.
 * Otherwise fails, and gives DN_STOP. */
static DN__APART dn_type whole(dn_reader *r)
{
    dn_type type = r->type;
    if (is_integer(r)) {
        return r->wide ? dn__fail(r, DN_RANGE) : type;
    }
    if (type != DN_FLOAT && type != DN_DOUBLE) {
        return dn__fail(r, DN_WRONG_TYPE);
    }
    /* The significand's upper 32 bits, and what stands below them. */
    uint32_t rest = 0;
    uint32_t bits = dn__load32(r->at - 4);
    uint32_t significand;
    int16_t exponent;
    if (type == DN_FLOAT) {
        exponent = (int16_t)((int16_t)((bits >> 23) & 0xff) - BIAS);
        significand = bits << 8;
    } else {
        rest = dn__load32(r->at - 8);
        exponent = (int16_t)((int16_t)((bits >> 20) & 0x7ff) - 1023);
        significand = bits << 11 | rest >> 21;
        rest <<= 11;
    }
    uint32_t magnitude = 0;
    if (bits | significand | rest) {
        uint16_t places = (uint16_t)(31 - exponent);
        if (places > 31 || rest) {
            return dn__fail(r, DN_RANGE);
        }
        significand |= 0x80000000;
        magnitude = significand >> places;
        if (magnitude << places != significand) {
            return dn__fail(r, DN_RANGE);
        }
    }
    r->n = magnitude;
    return bits & 0x80000000 ? DN_NEGATIVE : DN_UINT;
}

uint32_t dn_get_uint(dn_reader *r, uint32_t max)
{
    if ((r->type != DN_UINT || r->wide) && whole(r) == DN_NEGATIVE) {
        dn__fail(r, DN_RANGE);
    }
    if (r->n > max) {
        dn__fail(r, DN_RANGE);
    }
    return r->n;
}

int32_t dn_get_int(dn_reader *r, int32_t min, int32_t max)
{
    dn_type type = r->type;
    if (!is_integer(r) || r->wide) {
        type = whole(r);
        if (type == DN_STOP) {
            return 0;
        }
    }
    uint32_t n = r->n;
    int32_t value;
    if (type == DN_UINT) {
        value = (int32_t)n;
        if (value < 0 || value < min || value > max) {
            dn__fail(r, DN_RANGE);
            return 0;
        }
    } else {
        value = (int32_t)(0 - n);
        if (value >= 0 || value < min || value > max) {
            dn__fail(r, DN_RANGE);
            return 0;
        }
    }
    return value;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of the current integer's magnitude as a binary32. */
static uint32_t bits_of_integer(dn_reader *r)
{
    uint32_t significand = r->n;
    uint8_t exponent = BIAS + 23;
    if (r->wide || significand >= TOP_BIT << 1) {
        /* Over 24 bits: bit by bit from the varint's end. What is behind the 24 has to be 0. */
        significand = 0;
        for (const uint8_t *at = r->at - 1; at != r->item; at--) {
            for (uint8_t bit = 0x40; bit; bit >>= 1) {
                if (significand & TOP_BIT) {
                    exponent++;
                    if (*at & bit) {
                        dn__fail(r, DN_RANGE);
                        return 0;
                    }
                } else {
                    significand = significand << 1 | (*at & bit ? 1 : 0);
                }
            }
        }
    }
    if (significand == 0) {
        return 0;
    }
    while (!(significand & TOP_BIT)) {
        significand <<= 1;
        exponent--;
    }
    return (significand & (TOP_BIT - 1)) | (uint32_t)exponent << 23;
}

/* The bits of the current binary64 as a binary32. */
static uint32_t bits_of_double(dn_reader *r)
{
    uint32_t low = dn__load32(r->at - 8);
    uint32_t high = dn__load32(r->at - 4);
    uint32_t sign = high & 0x80000000;
    uint16_t exponent = (uint16_t)((high >> 20) & 0x7ff);
    uint32_t fraction = (high & 0xfffff) << 3 | low >> 29;
    bool exact = !(low & 0x1fffffff);
    if (exponent == 0x7ff) {
        if (low | (high & 0xfffff)) {
            return 0x7fc00000; /* NaN is one value */
        }
        return sign | 0x7f800000;
    }
    if (exponent == 0 && fraction == 0 && exact) {
        return sign;
    }
    if (exact && exponent > 1023 - 127 && exponent <= 1023 + 127) {
        return sign | (uint32_t)(exponent - (1023 - 127)) << 23 | fraction;
    }
    if (exact && exponent <= 1023 - 127 && exponent > 1023 - 127 - 23) {
        /* A denormal binary32: its exponent is that of the least normal one, its significand shifted by the difference. */
        uint8_t places = (uint8_t)(1023 - 127 + 1 - exponent);
        uint32_t significand = fraction | TOP_BIT;
        uint32_t shifted = significand >> places;
        if (shifted << places == significand) {
            return sign | shifted;
        }
    }
    dn__fail(r, DN_RANGE);
    return 0;
}

/* The current item, which is no binary32, as a float. */
static DN__APART float other_float(dn_reader *r)
{
    uint32_t bits;
    if (is_integer(r)) {
        bits = bits_of_integer(r);
        if (r->type == DN_NEGATIVE) {
            bits |= 0x80000000;
        }
    } else if (r->type == DN_DOUBLE) {
        bits = bits_of_double(r);
    } else {
        dn__fail(r, DN_WRONG_TYPE);
        bits = 0;
    }
    return float_of(bits);
}

float dn_get_float(dn_reader *r)
{
    return r->type == DN_FLOAT ? float_of(dn__load32(r->at - 4)) : other_float(r);
}
