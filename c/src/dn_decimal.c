/* c/docs/cycles.md lists the cycles of numbers on AVR. */
#include "dn_decimal.h"
#include "dn_avr.h"
#include "dn_words.h"

#include <string.h>

#if DN__WORD_BITS == 8
#define CHUNK 100 /* the highest power of 10 that fits a word */
#else
#define CHUNK 10000
#endif

/* ---- Decimal to binary ------------------------------------------------------------------------------------------------------ */

void dn__decimal_init(dn__decimal *d)
{
    d->exponent = 0;
    d->digits = 0;
    d->size = 0;
    d->dropped = false;
}

/* Stores the digits as an integer; returns false if they need more than 32 bits. */
static bool to_uint32(const dn__decimal *d, uint32_t *value)
{
    if (d->size > 32 / DN__WORD_BITS) return false;
#if defined(__AVR__)
    *value = 0;
    memcpy(value, d->words, d->size);
#else
    *value = (uint32_t)dn__words_to_uint64(d->words, d->size);
#endif
    return true;
}

void dn__decimal_digit(dn__decimal *d, uint8_t digit, bool fraction)
{
    if (d->digits < DN_JSON_DIGITS) {
        if (d->size || digit) {
            d->size = dn__words_multiply(d->words, d->size, 10, digit);
            d->digits++;
        }
        d->exponent -= fraction;
    } else {
        if (digit) d->dropped = true;
        d->exponent += !fraction;
    }
}

const uint8_t *dn__decimal_digits(dn__decimal *d, const uint8_t *at, const uint8_t *end, bool fraction)
{
    uint32_t value;
    if (d->digits < 9 && to_uint32(d, &value)) {
        /* Up to nine digits fit 32 bits. */
        uint8_t digits = (uint8_t)d->digits, places = 0;
        for (; at != end && digits < 9 && places < 255; at++) {
            uint8_t digit = (uint8_t)(*at - '0');
            if (digit > 9) break;
            value += value; /* value * 10 by additions: AVR multiplies 32 bits in a call, and DN__IN_BYTE prevents a product */
            uint32_t twice = value;
            DN__IN_BYTE(twice);
            value += value;
            value += value;
            value += twice;
            value += digit;
            if (digits || digit) digits++;
            places++;
        }
#if defined(__AVR__)
        memcpy(d->words, &value, sizeof value);
        d->size = dn__words_trim_zeros(d->words, sizeof value);
#else
        d->size = dn__words_load(d->words, value);
#endif
        d->digits = digits;
        if (fraction) d->exponent -= places;
    }
    for (; at != end && *at >= '0' && *at <= '9'; at++) dn__decimal_digit(d, (uint8_t)(*at - '0'), fraction);
    return at;
}

bool dn__decimal_integer(const dn__decimal *d, uint64_t *value)
{
    if (d->size > 64 / DN__WORD_BITS || d->exponent) return false;
    *value = dn__words_to_uint64(d->words, d->size);
    return true;
}

bool dn__decimal_low(const dn__decimal *d, uint32_t *value) { return !d->exponent && to_uint32(d, value); }

uint64_t dn__decimal_bits(dn__decimal *d, bool *exact)
{
    *exact = !d->dropped;
    if (!d->size) return 0;
    /* 10^(magnitude - 1) <= number < 10^magnitude */
    int32_t magnitude = d->exponent + d->digits;
    if (magnitude > 309 || magnitude < -323) {
        *exact = false;
        return DN__INFINITY;
    }
    bool inexact = d->dropped;
    int16_t exponent = (int16_t)d->exponent;
    dn__word *words = d->words;
    dn__size_of_words size = d->size;
    /* Zero words below the digits leave room for 64 bits of the quotient, or of a small number. */
    dn__size_of_words zeros = 64 / DN__WORD_BITS;
    if (exponent < 0) {
        uint16_t wanted = (uint16_t)((uint16_t)(-exponent * 19 / 8 + 80) / DN__WORD_BITS + 1);
        zeros = (dn__size_of_words)(wanted > size ? wanted - size : 0);
    }
    memmove(words + zeros, words, size * sizeof *words);
    memset(words, 0, zeros * sizeof *words);
    size = dn__words_scale(words, (dn__size_of_words)(size + zeros), exponent, &inexact);

    /* 2^top <= number < 2^(top + 1). 53 of its bits are kept, fewer if the binary64 is subnormal. */
    int16_t bits = dn__words_bit_length(words, size);
    int16_t binary = (int16_t)(exponent - DN__WORD_BITS * (int16_t)zeros);
    int16_t top = (int16_t)(bits - 1 + binary);
    int16_t keep = 53;
    uint16_t biased = 0;
    if (top < -1022) keep = (int16_t)(top + 1022 + 53);
    else biased = (uint16_t)(top + 1022);
    if (keep < 0) {
        *exact = false;
        return DN__INFINITY;
    }
    size = dn__words_shift_right(words, size, (int16_t)(bits - keep - 1), &inexact);
    uint64_t kept = dn__words_to_uint64(words, size);
    bool half = kept & 1;
    kept >>= 1;
    *exact = !(inexact || half);
    /* Adds the exponent to the bits instead of joining them: the leading bit adds 1 to the exponent, and so does rounding up to a power
     * of 2, also from subnormal numbers. */
    kept += half && (inexact || kept & 1);
    dn__add_upper(&kept, (uint16_t)(biased << 4));
    return dn__upper(&kept) < 0x7ff0 ? kept : DN__INFINITY;
}

/* ---- Binary to decimal ------------------------------------------------------------------------------------------------------ */

/* Decimal digits of a uint64_t. */
#define DIGITS 20

/* Writes an integer of up to 64 bits as `width` digits with leading zeros. `width` is even, and a multiple of 4 if CHUNK is 10000. */
static DN__APART void print_digits(dn__word *words, dn__size_of_words size, char *to, uint8_t width)
{
    while (size && width) {
        uint16_t rest = dn__words_divide(words, size, CHUNK, 65536 / CHUNK);
        if (!words[size - 1]) size--;
#if CHUNK == 100
        uint8_t tens = (uint8_t)((uint16_t)(rest * 103) >> 10);
        to[--width] = (char)('0' + rest - 10 * tens);
        to[--width] = (char)('0' + tens);
#else
        for (uint8_t i = 0; i < 4; i++, rest /= 10) to[--width] = (char)('0' + rest % 10);
#endif
    }
    memset(to, '0', width);
}

/* Writes the digits of (base + quarters / 4) * 2^binary * 10^decimal, rounded down. Returns false if digits are lost. Requires base <
 * 2^53, a result < 10^width, and binary + decimal >= 2 if decimal < 0, because a number that is divided by 5 must contain its powers of
 * 2. */
static DN__APART bool print_scaled(const dn__word *base, dn__size_of_words size, uint8_t quarters, int16_t binary, int16_t decimal, char *to,
    uint8_t width)
{
    dn__word words[896 / DN__WORD_BITS]; /* 55 bits and 5^341 or 2^677 */
    int16_t shift = (int16_t)(binary + decimal - 2);
    bool inexact = false;
    dn__size_of_words zeros = 0;
    if (shift > 0) {
        zeros = (dn__size_of_words)(shift / DN__WORD_BITS);
        memset(words, 0, zeros * sizeof *words);
    }
    memcpy(words + zeros, base, size * sizeof *words);
    size = dn__words_multiply(words + zeros, size, 4, quarters);
    if (shift > 0) size = dn__words_multiply(words + zeros, size, (dn__word)(1u << (shift % DN__WORD_BITS)), 0);
    size = dn__words_scale(words, (dn__size_of_words)(size + zeros), decimal, &inexact);
    if (shift < 0) size = dn__words_shift_right(words, size, (int16_t)-shift, &inexact);
    print_digits(words, size, to, width);
    return !inexact;
}

/* Copies the digits of an integer without leading zeros. Returns the address after the last one. */
static DN__APART char *print_integer(const char *digits, bool negative, char *at)
{
    uint8_t first = 0;
    while (first < DIGITS - 1 && digits[first] == '0') first++;
    if (negative) *at++ = '-';
    while (first < DIGITS) *at++ = digits[first++];
    return at;
}

uint8_t dn__print_integer(uint64_t magnitude, bool negative, char *to)
{
    char digits[DIGITS];
    dn__word words[64 / DN__WORD_BITS];
    print_digits(words, dn__words_load(words, magnitude), digits, DIGITS);
    return (uint8_t)(print_integer(digits, negative, to) - to);
}

/* Subtracts 1 from the integer whose last digit is at `last`. */
static void decrement(char *last)
{
    for (; *last == '0'; last--) *last = '9';
    --*last;
}

/* Writes `count` digits, the first of which has the value 10^exponent, in the notation of dn__print_double. Not for whole numbers below
 * 1e16. */
static char *print_decimal(const char *digits, uint8_t count, int16_t exponent, char *at)
{
    bool fixed = exponent >= -5 && exponent < 16;
    int8_t point = (int8_t)(fixed ? exponent + 1 : 1);
    for (int8_t i = (int8_t)(point < 1 ? point - 1 : 0); i < (int8_t)count; i++) {
        if (i == point) *at++ = '.';
        *at++ = i >= 0 ? digits[i] : '0';
    }
    if (!fixed) {
        *at++ = 'e';
        if (exponent >= 0) *at++ = '+';
        char power[DIGITS];
        dn__word words[64 / DN__WORD_BITS];
        print_digits(words, dn__words_load(words, (uint16_t)(exponent < 0 ? -exponent : exponent)), power, DIGITS);
        at = print_integer(power, exponent < 0, at);
    }
    return at;
}

/* The number mantissa * 2^binary, and the properties of its floating-point type. */
typedef struct {
    uint64_t mantissa;
    int16_t binary;
    bool negative;
    bool power; /* the mantissa is a power of 2 */
    bool closer; /* the next number below is half as far away as the next above */
    uint8_t width; /* digits that always suffice, and 3 more: for an estimate that is one too low, and for the digit that is rounded */
    uint8_t top; /* a mantissa * 2^top has 64 bits */
} float_parts;

/* Writes the shortest decimal that reads back as the number (Steele and White, "How to Print Floating-Point Numbers Accurately"): scales
 * both ends of the interval of such decimals to integers, and compares them digit by digit. Returns the number of characters. */
static DN__APART uint8_t print_shortest(const float_parts *of, char *to)
{
    int16_t binary = of->binary;
    char *at = to;
    char low[DIGITS], high[DIGITS], digits[DIGITS];
    dn__word words[128 / DN__WORD_BITS];
    dn__size_of_words size = dn__words_load(words, of->mantissa);
    if (of->negative) *at++ = '-';
    if (!size) {
        *at++ = '0';
        if (of->negative) {
            *at++ = '.';
            *at++ = '0';
        }
        return (uint8_t)(at - to);
    }
    bool even = !(words[0] & 1);
    /* The floor of the decimal logarithm of 2^n, at most one less than that of the number; 78913 / 2^18 is log10(2), and 400 makes it
     * positive. */
    int16_t n = (int16_t)(dn__words_bit_length(words, size) - 1 + binary);
    int16_t log = (int16_t)((int16_t)((n * (int32_t)78913 + ((int32_t)400 << 18)) >> 18) - 400);

    /* Integers of up to 64 bits, and not below -2^63, are printed as such. */
    bool fraction = binary > of->top || (of->negative && binary == of->top && !of->power);
    if (!fraction && binary < 0) dn__words_shift_right(words, size, (int16_t)-binary, &fraction);
    size = dn__words_load(words, of->mantissa - 1);
    if (!fraction) {
        print_scaled(words, size, 4, binary, 0, digits, DIGITS);
        return (uint8_t)(print_integer(digits, false, at) - to);
    }

    int16_t decimal = (int16_t)(of->width - 3 - log);
    uint8_t end = (uint8_t)(of->width - 1);

    /* The decimals above `low` and up to `high` read back as the number. The ends of the interval do so if the mantissa is even, because
     * ties are rounded to even. */
    if (print_scaled(words, size, of->closer ? 3 : 2, binary, decimal, low, of->width) && even) decrement(low + end);
    if (print_scaled(words, size, 6, binary, decimal, high, of->width) && !even) decrement(high + end);
    bool inexact = !print_scaled(words, size, 4, binary, decimal, digits, of->width);

    /* At the first digit in which `low` and `high` differ, a shorter decimal lies between them; only that digit remains to be chosen. */
    uint8_t first = 0, last = 0;
    while (digits[first] == '0' && high[first] == '0') first++;
    while (low[last] == high[last]) last++;
    for (uint8_t i = end; i > last + 1; i--) inexact = inexact || digits[i] != '0';
    char next = digits[last + 1];
    bool up = next > '5' || (next == '5' && (inexact || digits[last] & 1));
    if (digits[last] == low[last]) up = true;
    if (digits[last] == high[last]) up = false;
    if (up) digits[last]++;
    return (uint8_t)(print_decimal(digits + first, (uint8_t)(last + 1 - first), (int16_t)(end - first - decimal), at) - to);
}

uint8_t dn__print_double(uint64_t bits, char *to)
{
    uint32_t upper = (uint32_t)(bits >> 32);
    int16_t biased = (int16_t)((upper >> 20) & 0x7ff);
    float_parts of;
    of.mantissa = (uint64_t)(upper & 0xfffff) << 32 | (uint32_t)bits;
    of.power = !of.mantissa;
    of.closer = of.power && biased > 1;
    of.negative = upper >> 31;
    of.binary = (int16_t)(biased ? biased - 1075 : -1074);
    of.width = 20;
    of.top = 11;
    if (biased) of.mantissa |= (uint64_t)1 << 52;
    return print_shortest(&of, to);
}

uint8_t dn__print_float(uint32_t bits, char *to)
{
    int16_t biased = (int16_t)((bits >> 23) & 0xff);
    uint32_t mantissa = bits & 0x7fffff;
    float_parts of;
    of.power = !mantissa;
    of.closer = of.power && biased > 1;
    of.negative = bits >> 31;
    of.binary = (int16_t)(biased ? biased - 150 : -149);
    of.width = 12;
    of.top = 40;
    of.mantissa = biased ? mantissa | 0x800000 : mantissa;
    return print_shortest(&of, to);
}
