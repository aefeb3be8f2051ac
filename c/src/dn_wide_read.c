/* The getters of 64 bits. They are in a file of their own, because they cost an 8-bit target several hundred bytes. */
#include "dn_internal.h"

#include <string.h>

#define INT64_MIN_MAGNITUDE ((uint64_t)1 << 63) /* the magnitude of the smallest integer */
#define DOUBLE_EXACT_MAX ((uint64_t)1 << 53) /* up to here, a binary64 holds every integer */

/* Returns the magnitude of the current integer. */
static uint64_t integer_magnitude(const dn_reader *r)
{
    uint32_t high = 0;
    if (r->wide) {
        /* r->n has the lower 32 bits: four groups of seven, and four bits of the fifth. */
        const uint8_t *fifth = r->item + 5;
        const uint8_t *at = r->at;
        while (--at != fifth) {
            high = high << 7 | (*at & 0x7f);
        }
        high = high << 3 | ((*at >> 4) & 7);
    }
    return (uint64_t)high << 32 | r->n;
}

/* Returns the magnitude of the current number, which must be whole and below 2^64, and sets `*negative`. Otherwise fails and
 * returns 0. */
static uint64_t read_magnitude(dn_reader *r, bool *negative)
{
    dn_type type = r->type;
    if (type == DN_UINT || type == DN_NEGATIVE) {
        *negative = type == DN_NEGATIVE;
        return integer_magnitude(r);
    }
    *negative = false;
    if (type != DN_FLOAT && type != DN_DOUBLE) {
        dn__fail(r, DN_WRONG_TYPE);
        return 0;
    }
    uint32_t high = dn__load32(r->at - 4);
    uint64_t significand;
    int16_t exponent;
    if (type == DN_FLOAT) {
        exponent = (int16_t)((int16_t)((high >> 23) & 0xff) - 127);
        significand = (uint64_t)high << 40;
    } else {
        uint32_t low = dn__load32(r->at - 8);
        exponent = (int16_t)((int16_t)((high >> 20) & 0x7ff) - 1023);
        significand = ((uint64_t)high << 32 | low) << 11;
        if ((high | low) == 0) {
            return 0;
        }
    }
    if (high == 0 && significand == 0) {
        return 0;
    }
    int16_t places = (int16_t)(63 - exponent);
    significand |= (uint64_t)1 << 63;
    if (places < 0 || places > 63 || significand >> places << places != significand) {
        dn__fail(r, DN_RANGE);
        return 0;
    }
    *negative = high >> 31;
    return significand >> places;
}

uint64_t dn_get_u64(dn_reader *r)
{
    bool negative;
    uint64_t n = read_magnitude(r, &negative);
    if (negative) {
        dn__fail(r, DN_RANGE);
        return 0;
    }
    return n;
}

int64_t dn_get_i64(dn_reader *r)
{
    bool negative;
    uint64_t n = read_magnitude(r, &negative);
    if (n > (negative ? INT64_MIN_MAGNITUDE : INT64_MIN_MAGNITUDE - 1)) {
        dn__fail(r, DN_RANGE);
        return 0;
    }
    return (int64_t)(negative ? 0 - n : n);
}

double dn_get_double(dn_reader *r)
{
    if (sizeof(double) < 8) {
        return (double)dn_get_float(r);
    }
    if (r->type == DN_FLOAT) {
        return (double)dn_get_float(r);
    }
    if (r->type == DN_DOUBLE) {
        uint64_t bits = (uint64_t)dn__load32(r->at - 4) << 32 | dn__load32(r->at - 8);
        double value = 0;
        memcpy(&value, &bits, sizeof(double) < 8 ? sizeof(double) : 8);
        return value;
    }
    bool negative;
    uint64_t n = read_magnitude(r, &negative);
    for (uint64_t rest = n; rest > DOUBLE_EXACT_MAX; rest >>= 1) {
        if (rest & 1) {
            dn__fail(r, DN_RANGE);
            return 0;
        }
    }
    return negative ? -(double)n : (double)n;
}
