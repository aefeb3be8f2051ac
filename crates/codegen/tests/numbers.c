/* Each macro of a number against exact arithmetic; ends with the number of what differs. */
#include "numbers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long faults;

static void expect(const char *what, double value, int64_t got, int64_t expected)
{
    if (got == expected) return;
    if (faults++ < 20) printf("%s of %.9g: %lld, not %lld\n", what, value, (long long)got, (long long)expected);
}

static int64_t power(int n) { return n ? 10 * power(n - 1) : 1; }

/* n * mantissa * 10^-places as decimal text. */
static const char *text(int64_t n, int64_t mantissa, int places)
{
    static char out[64];
    const uint64_t scaled = (uint64_t)(n < 0 ? -n : n) * (uint64_t)mantissa, unit = (uint64_t)power(places);
    sprintf(out, "%s%llu.%0*llu", n < 0 ? "-" : "", (unsigned long long)(scaled / unit), places ? places : 1, (unsigned long long)(scaled % unit));
    return out;
}

/* The integer nearest to numerator / denominator, away from 0 in the middle. */
static int64_t nearest(__int128 numerator, __int128 denominator)
{
    const __int128 magnitude = numerator < 0 ? -numerator : numerator;
    const __int128 count = (2 * magnitude + denominator) / (2 * denominator);
    if (count > INT64_MAX) return INT64_MAX;
    return (int64_t)(numerator < 0 ? -count : count);
}

/* The count nearest to a finite float; INT64_MAX for what is far from all counts. */
static int64_t nearest_to(float value, int64_t mantissa, int places)
{
    int exponent;
    const __int128 digits = (__int128)ldexpf(frexpf(value, &exponent), 24) * power(places);
    exponent -= 24;
    if (exponent > 40) return INT64_MAX;
    if (exponent < -70) return 0;
    return exponent < 0 ? nearest(digits, (__int128)mantissa << -exponent) : nearest(digits * ((__int128)1 << exponent), mantissa);
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define REFUSED(FIELD, kind, value) expect(#FIELD " refused", (double)(value), (kind)FIELD(value) < FIELD##_MIN || (kind)FIELD(value) > FIELD##_MAX, 1)

/* What holds for every field: `parse` reads the value as its arithmetic has it. */
#define BOTH(FIELD, kind, parse, mantissa, places, step) \
    for (int64_t n = FIELD##_MIN; n <= FIELD##_MAX; n += n + (step) > FIELD##_MAX && n != FIELD##_MAX ? FIELD##_MAX - n : (step)) { \
        expect(#FIELD, (double)n, (int64_t)FIELD(parse(text(n, mantissa, places), NULL)), n); \
        expect(#FIELD " there and back", (double)n, (int64_t)FIELD(FIELD##_VALUE(n)), n); \
        DECIMAL(FIELD, n, n, mantissa, places, 0) DECIMAL(FIELD, n, n, mantissa, places, 3) DECIMAL(FIELD, n, n, mantissa, places, 9) \
    } \
    REFUSED(FIELD, kind, NAN); REFUSED(FIELD, kind, INFINITY); REFUSED(FIELD, kind, -INFINITY); REFUSED(FIELD, kind, 3e38f); REFUSED(FIELD, kind, -3e38f); \
    expect(#FIELD " least", 0, (int64_t)FIELD_RANGE(FIELD, FIELD##_FROM_DECIMAL(INT32_MIN, 0)), nearest((__int128)INT32_MIN * power(places), mantissa) >= FIELD##_MIN);

#define FIELD_RANGE(FIELD, n) ((n) >= FIELD##_MIN && (n) <= FIELD##_MAX)

/* The value n, rounded to `digits` decimals, as an integer. */
#define DECIMAL(FIELD, what, n, mantissa, places, digits) { \
        const int64_t d = nearest((__int128)(n) * (mantissa) * power(digits), power(places)); \
        const int64_t c = nearest((__int128)d * power(places), (__int128)(mantissa) * power(digits)); \
        if (d >= INT32_MIN && d <= INT32_MAX && c >= FIELD##_MIN && c <= FIELD##_MAX) expect(#FIELD " from decimal", (double)(what), (int64_t)FIELD##_FROM_DECIMAL((int32_t)d, digits), c); \
    }

/* Binary32: also each `stride`th float there is. `slack` is for factors that are not exact. */
#define SINGLE(FIELD, kind, mantissa, places, slack) static void check_##FIELD(void) \
{ \
    BOTH(FIELD, kind, strtof, mantissa, places, 1) \
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 9973) { \
        const float value = of_bits((uint32_t)bits); \
        const int64_t count = isfinite(value) ? nearest_to(value, mantissa, places) : INT64_MAX; \
        const double exact = (double)value * (double)power(places) / (double)(mantissa); \
        if (slack && fabs(fabs(exact - floor(exact)) - 0.5) < 0.01) continue; \
        if (count >= FIELD##_MIN && count <= FIELD##_MAX) expect(#FIELD, (double)value, (int64_t)FIELD(value), count); \
        else REFUSED(FIELD, kind, value); \
    } \
}

SINGLE(NUMBERS_TENTH, int64_t, 1, 1, 0)
SINGLE(NUMBERS_FINE, int64_t, 1, 4, 0)
SINGLE(NUMBERS_STEP, int64_t, 5, 2, 0)
SINGLE(NUMBERS_LARGE, int64_t, 250, 0, 0)
SINGLE(NUMBERS_THIRD, int64_t, 3, 1, 1)
SINGLE(NUMBERS_COUNTS, int64_t, 7324443, 7, 1)
SINGLE(NUMBERS_ABOVE, int64_t, 1, 2, 0)

#define DOUBLE(FIELD, mantissa, places, step) static void check_##FIELD(void) { BOTH(FIELD, int64_t, strtod, mantissa, places, step) }

DOUBLE(NUMBERS_LATITUDE, 1, 7, 977)
DOUBLE(NUMBERS_ODOMETER, 1, 1, 977)
DOUBLE(NUMBERS_UPPER, 1, 0 + 3, 1009)
DOUBLE(NUMBERS_HUGE, 1, 6, 99999999989ll)

/* Values that are not multiples of a decimal: each is nearer to its own count than to another. */
#define RAW(FIELD, unit, offset) static void check_##FIELD(void) \
{ \
    for (int64_t n = FIELD##_MIN; n <= FIELD##_MAX; n++) expect(#FIELD " value", (double)n, llround(((double)FIELD##_VALUE(n) - (offset)) / (unit)), n); \
}

RAW(NUMBERS_ADC, 2.5 / 4194303, 0)
RAW(NUMBERS_PASCALS, 0.001, 100000)
RAW(NUMBERS_RAW, 175.0 / 65535, -45)

int main(void)
{
    check_NUMBERS_TENTH();
    check_NUMBERS_FINE();
    check_NUMBERS_STEP();
    check_NUMBERS_LARGE();
    check_NUMBERS_THIRD();
    check_NUMBERS_COUNTS();
    check_NUMBERS_ABOVE();
    check_NUMBERS_LATITUDE();
    check_NUMBERS_ODOMETER();
    check_NUMBERS_ADC();
    check_NUMBERS_PASCALS();
    check_NUMBERS_RAW();
    check_NUMBERS_UPPER();
    check_NUMBERS_HUGE();
    {
        /* What has more than 32 bits is out of range, not cut: 0xffffffff is not -1. */
        const uint32_t none = 0xffffffffu;
        const int64_t far = ((int64_t)1 << 32) + 235;
        expect("uint32_t", none, FIELD_RANGE(NUMBERS_TENTH, NUMBERS_TENTH_FROM_DECIMAL(none, 1)), 0);
        expect("int64_t", (double)far, FIELD_RANGE(NUMBERS_TENTH, NUMBERS_TENTH_FROM_DECIMAL(far, 1)), 0);
        expect("int64_t", 235, NUMBERS_TENTH_FROM_DECIMAL((int64_t)235, 1), 235);
    }
    printf("%lu differ\n", faults);
    return faults != 0;
}
