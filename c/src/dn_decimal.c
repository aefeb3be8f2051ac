/* Big integers of 16-bit words, which are only ever multiplied and divided by powers of 5: the powers of 2 are the binary exponent's. */
#include "dn_decimal.h"

/* 5^6 is the highest power of 5 that fits a word. */
#define POWER 6
#define FIVE_TO_POWER 15625u

/* words = words * factor + add; gives the new number of words. There has to be room for one more. */
static uint16_t multiply(uint16_t *words, uint16_t size, uint16_t factor, uint16_t add)
{
    uint32_t carry = add;
    for (uint16_t i = 0; i < size; i++) {
        carry += (uint32_t)words[i] * factor;
        words[i] = (uint16_t)carry;
        carry >>= 16;
    }
    if (carry) words[size++] = (uint16_t)carry;
    return size;
}

/* words = words / divisor; gives the remainder. The highest word may become 0. */
static uint16_t divide(uint16_t *words, uint16_t size, uint16_t divisor)
{
    uint32_t rest = 0;
    while (size--) {
        rest = rest << 16 | words[size];
        words[size] = (uint16_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint16_t)rest;
}

static uint16_t without_zeros(const uint16_t *words, uint16_t size)
{
    while (size && !words[size - 1]) size--;
    return size;
}

/* words = words * 5^power, or words / 5^-power rounded down, which sets `*inexact` when something is lost. Gives the number of words. */
static uint16_t scale(uint16_t *words, uint16_t size, int16_t power, bool *inexact)
{
    bool down = power < 0;
    uint16_t left = (uint16_t)(down ? -power : power);
    while (left) {
        uint16_t factor = FIVE_TO_POWER;
        uint8_t step = POWER;
        if (left < POWER) {
            factor = 5;
            step = 1;
        }
        if (!down) size = multiply(words, size, factor, 0);
        else {
            if (divide(words, size, factor)) *inexact = true;
            size = without_zeros(words, size);
        }
        left = (uint16_t)(left - step);
    }
    return size;
}

/* words * 2^-shift, rounded down, which sets `*inexact` when something is lost. The result has to fit. */
static uint64_t shifted(const uint16_t *words, uint16_t size, int16_t shift, bool *inexact)
{
    uint64_t value = 0;
    if (shift < 0) {
        while (size--) value = value << 16 | words[size];
        return value << -shift;
    }
    uint16_t at = (uint16_t)shift / 16;
    uint8_t bits = (uint8_t)shift % 16;
    for (uint16_t i = 0; i < at && i < size; i++)
        if (words[i]) *inexact = true;
    if (at >= size) return 0;
    if (words[at] & ((1u << bits) - 1)) *inexact = true;
    while (--size > at) value = value << 16 | words[size];
    return value << (16 - bits) | words[at] >> bits;
}

static uint8_t bit_length(uint64_t value)
{
    uint8_t bits = 0;
    for (; value; value >>= 1) bits++;
    return bits;
}

/* ---- Decimal to binary ------------------------------------------------------------------------------------------------------ */

void dn__decimal_init(dn__decimal *d)
{
    d->exponent = 0;
    d->digits = 0;
    d->size = 0;
    d->dropped = false;
}

void dn__decimal_digit(dn__decimal *d, uint8_t digit, bool fraction)
{
    if (d->digits < DN_JSON_DIGITS) {
        if (d->size || digit) {
            d->size = multiply(d->words, d->size, 10, digit);
            d->digits++;
        }
        d->exponent -= fraction;
    } else {
        if (digit) d->dropped = true;
        d->exponent += !fraction;
    }
}

/* The lowest 64 bits of the digits. */
static uint64_t low_bits(const uint16_t *words, uint16_t size)
{
    bool ignored = false;
    return shifted(words, size, 0, &ignored);
}

bool dn__decimal_integer(const dn__decimal *d, uint64_t *value)
{
    if (d->size > 4 || d->exponent) return false;
    *value = low_bits(d->words, d->size);
    return true;
}

/* The binary64 nearest to value * 2^exponent, or a bit more when `inexact`; value >= 2^63. Sets `*inexact` when it is another number. */
static uint64_t rounded(uint64_t value, int16_t exponent, bool *inexact)
{
    /* 53 bits stay, fewer where the exponent would be below that of the subnormal numbers. */
    int16_t drop = 11;
    if (exponent + drop < -1074) drop = (int16_t)(-1074 - exponent);
    if (drop > 64) {
        *inexact = true;
        return 0;
    }
    uint64_t kept = drop == 64 ? 0 : value >> drop;
    uint64_t half = (uint64_t)1 << (drop - 1);
    uint64_t rest = value & (half | (half - 1));
    bool up = rest > half || (rest == half && (*inexact || kept & 1));
    if (rest) *inexact = true;
    /* Adding, not joining, the leading bit to the exponent lets both rounding up and subnormal numbers come out right. */
    uint64_t biased = (uint64_t)(uint16_t)(exponent + drop + 1074);
    uint64_t bits = (biased << 52) + kept + up;
    return bits >= DN__INFINITY ? DN__INFINITY : bits;
}

uint64_t dn__decimal_bits(dn__decimal *d, bool *exact)
{
    *exact = !d->dropped;
    if (!d->size) return 0;
    /* The number is below 10^magnitude, and not below a tenth of it. */
    int32_t magnitude = d->exponent + d->digits;
    if (magnitude > 309 || magnitude < -323) {
        *exact = false;
        return magnitude > 0 ? DN__INFINITY : 0;
    }
    bool inexact = d->dropped;
    int16_t exponent = (int16_t)d->exponent;
    int16_t binary = exponent;
    uint16_t *words = d->words;
    uint16_t size = d->size;
    if (exponent < 0) {
        /* Room for 64 bits of the quotient: zeros below the digits. */
        uint16_t wanted = (uint16_t)((-exponent * 7 / 3 + 80) / 16 + 1);
        uint16_t zeros = wanted > size ? (uint16_t)(wanted - size) : 0;
        while (size--) words[size + zeros] = words[size];
        for (uint16_t i = 0; i < zeros; i++) words[i] = 0;
        size = (uint16_t)(d->size + zeros);
        binary = (int16_t)(binary - 16 * (int16_t)zeros);
    }
    size = scale(words, size, exponent, &inexact);
    int16_t shift = (int16_t)(16 * ((int16_t)size - 1) + bit_length(words[size - 1]) - 64);
    uint64_t top = shifted(words, size, shift, &inexact);
    uint64_t bits = rounded(top, (int16_t)(shift + binary), &inexact);
    *exact = !inexact;
    return bits;
}

/* ---- Binary to decimal ------------------------------------------------------------------------------------------------------ */

/* mantissa * 2^binary * 10^decimal, rounded down; `*inexact` when something is lost. mantissa < 2^55, the result < 2^62, and
 * binary + decimal >= 0 when decimal < 0. */
static uint64_t scaled(uint64_t mantissa, int16_t binary, int16_t decimal, bool *inexact)
{
    uint16_t words[56]; /* 55 bits and 5^341 or 2^677 */
    uint16_t size = 0;
    int16_t shift = (int16_t)-(binary + decimal);
    bool lost = false;
    if (decimal < 0) {
        /* What is divided by 5 has to be an integer with all its powers of 2. */
        for (; shift <= -16; shift = (int16_t)(shift + 16)) words[size++] = 0;
    }
    for (; mantissa; mantissa >>= 16) words[size++] = (uint16_t)mantissa;
    if (decimal < 0) {
        size = multiply(words, size, (uint16_t)(1u << -shift), 0);
        shift = 0;
    }
    size = scale(words, size, decimal, &lost);
    *inexact = lost;
    return shifted(words, size, shift, inexact);
}

uint8_t dn__print_integer(uint64_t magnitude, bool negative, char *to)
{
    char digits[20];
    uint8_t left = sizeof digits;
    char *at = to;
    do {
        uint64_t tenth = magnitude / 10;
        digits[--left] = (char)('0' + (uint8_t)(magnitude - tenth * 10));
        magnitude = tenth;
    } while (magnitude);
    if (negative) *at++ = '-';
    while (left < sizeof digits) *at++ = digits[left++];
    return (uint8_t)(at - to);
}

/* value * 10^exponent, in the notation of dn__print_double. */
static uint8_t print(uint64_t value, int16_t exponent, char *to)
{
    char digits[DN__NUMBER_TEXT];
    uint8_t count = dn__print_integer(value, false, digits);
    int16_t scientific = (int16_t)(exponent + count - 1);
    bool fixed = scientific >= -5 && scientific < 16;
    int16_t point = fixed ? (int16_t)(scientific + 1) : 1;
    /* A point has digits on both sides. */
    int16_t end = fixed && point >= count ? (int16_t)(point + 1) : count;
    char *at = to;
    for (int16_t i = point < 1 ? (int16_t)(point - 1) : 0; i < end; i++) {
        if (i == point) *at++ = '.';
        *at++ = i >= 0 && i < count ? digits[i] : '0';
    }
    if (!fixed) {
        *at++ = 'e';
        if (scientific >= 0) *at++ = '+';
        at += dn__print_integer((uint64_t)(scientific < 0 ? -scientific : scientific), scientific < 0, at);
    }
    return (uint8_t)(at - to);
}

/* The shortest decimal among those that read back as the number: Steele and White, "How to Print Floating-Point Numbers Accurately", by way of
 * the interval of these numbers, scaled so that its ends are 64-bit integers. */
uint8_t dn__print_double(uint64_t bits, char *to)
{
    const uint64_t implicit = (uint64_t)1 << 52;
    uint64_t mantissa = bits & (implicit - 1);
    int16_t biased = (int16_t)(bits >> 52 & 0x7ff);
    char *at = to;
    if (bits >> 63) *at++ = '-';
    if (!biased && !mantissa) return (uint8_t)(at - to + print(0, 0, at));

    int16_t binary = (int16_t)(biased ? biased - 1075 : -1074);
    /* Below a power of 2, numbers are half as far apart. */
    uint8_t below = !mantissa && biased > 1 ? 1 : 2;
    if (biased) mantissa |= implicit;
    bool even = !(mantissa & 1);

    /* The floor of the number's decimal logarithm, at most one too small; 78913 / 2^18 is log10(2). */
    int16_t log = (int16_t)(bit_length(mantissa) - 1 + binary);
    log = (int16_t)((int16_t)(((int32_t)log * 78913 + ((int32_t)400 << 18)) >> 18) - 400);
    /* 18 digits or more: one more than are ever needed, to see where the number lies between two decimals of 17. */
    int16_t decimal = (int16_t)(17 - log);
    binary = (int16_t)(binary - 2);
    mantissa <<= 2;

    /* The decimals from `low` to `high` read back as the number; its ends do when the mantissa is even, because ties go there. */
    bool inexact;
    uint64_t low = scaled(mantissa - below, binary, decimal, &inexact);
    low += inexact || !even;
    uint64_t high = scaled(mantissa + 2, binary, decimal, &inexact);
    high -= !inexact && !even;
    uint64_t value = scaled(mantissa, binary, decimal, &inexact);

    uint8_t digit = 0;
    for (;;) {
        uint64_t higher = (low + 9) / 10, lower = high / 10, tenth = value / 10;
        if (higher > lower) break;
        inexact = inexact || digit;
        digit = (uint8_t)(value - tenth * 10);
        value = tenth;
        low = higher;
        high = lower;
        decimal--;
    }
    value += digit > 5 || (digit == 5 && (inexact || value & 1));
    if (value < low) value = low;
    if (value > high) value = high;
    return (uint8_t)(at - to + print(value, (int16_t)-decimal, at));
}
