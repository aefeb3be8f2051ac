/* The getters of numbers of up to 32 bits. Numbers are converted by their bits: soft-float would cost AVR more flash than all the
 * rest.
 *
 * A number of another type than the one requested is rare, so the code after the first lines of each getter is short rather than
 * fast. There, significands have their top bit, which the wire omits, at bit 31, and `rest` is nonzero if there are bits below bit
 * 0.
 */
#include "dn_internal.h"

#define TOP_BIT ((uint32_t)1 << 31)
#define SINGLE_BIAS 127
#define DOUBLE_BIAS 1023

static inline bool is_integer(const dn_reader *r)
{
    return r->type == DN_UINT || r->type == DN_NEGATIVE;
}

/* Splits the current binary32 or binary64: sets r->n to the upper 32 bits of its significand, and r->wide if lower bits are set.
 * Returns its exponent. Zeros and denormals have the exponent -BIAS and no top bit. */
static DN__APART int16_t split_float(dn_reader *r)
{
    const uint8_t *end = r->at;
    uint16_t exponent = (uint16_t)((end[-2] | (uint16_t)end[-1] << 8) << 1); /* without the sign */
    uint32_t significand;
    uint8_t rest = 0;
    if (r->type == DN_FLOAT) {
        significand = dn__load32(end - 4) << 8;
        exponent >>= 8;
    } else {
        const uint8_t *bytes = end - 8;
        DN__IN_Z(bytes);
        significand = dn__load32(bytes + 3) << 3 | bytes[2] >> 5;
        rest = bytes[0] | bytes[1] | (uint8_t)(bytes[2] << 3);
        exponent >>= 5;
    }
    significand |= TOP_BIT;
    if (exponent == 0) {
        significand -= TOP_BIT;
    }
    r->n = significand;
    r->wide = rest != 0;
    return (int16_t)(exponent - (r->type == DN_FLOAT ? SINGLE_BIAS : DOUBLE_BIAS));
}

/* Sets r->n to the magnitude of the current number, which must be whole and have up to 32 bits, and returns DN_UINT or
 * DN_NEGATIVE. Otherwise fails and returns DN_STOP. */
static DN__APART dn_type convert_to_integer(dn_reader *r)
{
    dn_type type = r->type;
    if (!is_integer(r)) {
        if (type != DN_FLOAT && type != DN_DOUBLE) {
            return dn__fail(r, DN_WRONG_TYPE);
        }
        uint16_t places = (uint16_t)(31 - split_float(r)); /* bits of the significand after the binary point */
        type = r->at[-1] & 0x80 ? DN_NEGATIVE : DN_UINT;
        if (r->n == 0 && type == DN_UINT) {
            places = 0;
        }
        if (places > 31) { /* also for large numbers, for which it has wrapped */
            r->wide = true;
        }
        for (; !r->wide && places; places--) {
            r->wide = r->n & 1;
            r->n >>= 1;
        }
    }
    return r->wide ? dn__fail(r, DN_RANGE) : type;
}

uint32_t dn_get_uint(dn_reader *r, uint32_t max)
{
    if ((r->type != DN_UINT || r->wide) && convert_to_integer(r) == DN_NEGATIVE) {
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
        type = convert_to_integer(r);
    }
    uint32_t n = r->n; /* 0 after an error */
    int32_t value = (int32_t)n;
    bool fits = value >= 0;
    if (type == DN_NEGATIVE) {
        value = (int32_t)(0 - n);
        fits = value < 0;
    }
    if (!fits || value < min || value > max) {
        dn__fail(r, DN_RANGE);
        return 0;
    }
    return value;
}

static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Converts the current item, which is not a binary32, to float. */
static DN__APART float convert_to_float(dn_reader *r)
{
    const uint8_t *at = r->at;
    uint8_t sign = 0;
    uint32_t significand = r->n;
    int16_t exponent = 31;
    uint8_t rest = 0;
    if (r->type == DN_DOUBLE) {
        exponent = split_float(r);
        sign = at[-1] & 0x80;
        significand = r->n;
        rest = r->wide;
        if (exponent == DOUBLE_BIAS + 1) {
            /* Infinity or NaN. Every NaN becomes the same value. */
            exponent = SINGLE_BIAS + 1;
            if (rest || significand != TOP_BIT) {
                significand = TOP_BIT | TOP_BIT >> 1;
                rest = 0;
            }
        } else if (exponent > SINGLE_BIAS) {
            rest = 1;
        }
    } else if (is_integer(r)) {
        if (r->type == DN_NEGATIVE) {
            sign = 0x80;
        }
        if (r->wide) {
            /* Reads the varint from its end, bit by bit, because 64-bit arithmetic costs too much. */
            significand = 0;
            while (--at != r->item) {
                uint8_t bits = *at;
                for (uint8_t count = 7; count; count--) {
                    bits = (uint8_t)(bits << 1);
                    if (significand & TOP_BIT) {
                        exponent++;
                        rest |= bits & 0x80;
                    } else {
                        significand <<= 1;
                        if (bits & 0x80) {
                            significand |= 1;
                        }
                    }
                }
            }
        }
        while (significand && !(significand & TOP_BIT)) {
            significand <<= 1;
            exponent--;
        }
    } else {
        dn__fail(r, DN_WRONG_TYPE);
        return 0;
    }
    /* Below the smallest exponent, the top bit moves down. */
    if (significand == 0) {
        exponent = 1 - SINGLE_BIAS;
    }
    while (exponent < 1 - SINGLE_BIAS && !rest) {
        rest = significand & 1;
        significand >>= 1;
        exponent++;
    }
    if (rest || significand & 0xff) {
        dn__fail(r, DN_RANGE);
        return 0;
    }
    /* The top bit of the significand, if set, adds 1 to the exponent. */
    uint16_t upper = (uint16_t)((uint16_t)(exponent - 1 + SINGLE_BIAS) << 7 | (uint16_t)sign << 8);
    return float_from_bits((significand >> 8) + ((uint32_t)upper << 16));
}

float dn_get_float(dn_reader *r)
{
    return r->type == DN_FLOAT ? float_from_bits(dn__load32(r->at - 4)) : convert_to_float(r);
}
