/* Big integers of 16-bit words, which are only ever multiplied and divided by powers of 5: the powers of 2 are the binary exponent's. */
#include "dn_decimal.h"
#include "dn_internal.h"

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

/* words = words * 2^-shift, rounded down, which sets `*inexact` when something is lost; shift >= 0. Gives the number of words. */
static uint16_t shift_right(uint16_t *words, uint16_t size, int16_t shift, bool *inexact)
{
    uint16_t skip = (uint16_t)shift / 16;
    if (skip > size) skip = size;
    for (uint16_t i = 0; i < skip; i++)
        if (words[i]) *inexact = true;
    size = (uint16_t)(size - skip);
    for (uint16_t i = 0; i < size; i++) words[i] = words[i + skip];
    if (divide(words, size, (uint16_t)(1u << ((uint16_t)shift % 16)))) *inexact = true;
    return without_zeros(words, size);
}

static DN__APART uint16_t load(uint16_t *words, uint64_t value)
{
    uint16_t size = 0;
    for (; value; value >>= 16) words[size++] = (uint16_t)value;
    return size;
}

/* Of up to 4 words. */
static DN__APART uint64_t integer_of(const uint16_t *words, uint16_t size)
{
    uint64_t value = 0;
    while (size--) value = value << 16 | words[size];
    return value;
}

static DN__APART int16_t bit_length(const uint16_t *words, uint16_t size)
{
    int16_t bits = (int16_t)(16 * ((int16_t)size - 1));
    for (uint16_t top = words[size - 1]; top; top >>= 1) bits++;
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

bool dn__decimal_integer(const dn__decimal *d, uint64_t *value)
{
    if (d->size > 4 || d->exponent) return false;
    *value = integer_of(d->words, d->size);
    return true;
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
    uint16_t *words = d->words;
    uint16_t size = d->size;
    /* Zeros below the digits: room for 64 bits of the quotient, or of a small number. */
    uint16_t zeros = 4;
    if (exponent < 0) {
        uint16_t wanted = (uint16_t)((-exponent * 7 / 3 + 80) / 16 + 1);
        zeros = wanted > size ? (uint16_t)(wanted - size) : 0;
    }
    while (size--) words[size + zeros] = words[size];
    for (uint16_t i = 0; i < zeros; i++) words[i] = 0;
    size = scale(words, (uint16_t)(d->size + zeros), exponent, &inexact);

    /* The number is below 2^(top + 1), and not below 2^top. Of its bits 53 stay, fewer where binary64 is subnormal. */
    int16_t bits = bit_length(words, size);
    int16_t binary = (int16_t)(exponent - 16 * (int16_t)zeros);
    int16_t top = (int16_t)(bits - 1 + binary);
    int16_t keep = 53;
    uint64_t biased = 0;
    if (top < -1022) keep = (int16_t)(top + 1022 + 53);
    else biased = (uint16_t)(top + 1022);
    if (keep < 0) {
        *exact = false;
        return 0;
    }
    size = shift_right(words, size, (int16_t)(bits - keep - 1), &inexact);
    uint64_t kept = integer_of(words, size);
    bool half = kept & 1;
    kept >>= 1;
    *exact = !(inexact || half);
    /* Adding, not joining: the leading bit adds 1 to the exponent, and so does rounding up to a power of 2, also from subnormal numbers. */
    kept += (biased << 52) + (half && (inexact || kept & 1));
    return kept < DN__INFINITY ? kept : DN__INFINITY;
}

/* ---- Binary to decimal ------------------------------------------------------------------------------------------------------ */

/* Decimal digits of a uint64_t. */
#define DIGITS 20

/* Writes an integer of up to 4 words with all of its DIGITS, zeros in front. */
static DN__APART void print_digits(uint16_t *words, uint16_t size, char *to)
{
    for (uint8_t left = DIGITS; left--;) to[left] = (char)('0' + divide(words, size, 10));
}

/* Writes the digits of (mantissa + quarters / 4) * 2^binary * 10^decimal, rounded down. False when something is lost. mantissa < 2^53, the
 * result < 2^64, and binary + decimal >= 2 when decimal < 0: what is divided by 5 has to have its powers of 2. */
static DN__APART bool print_scaled(uint64_t mantissa, uint8_t quarters, int16_t binary, int16_t decimal, char *to)
{
    uint16_t words[56]; /* 55 bits and 5^341 or 2^677 */
    uint16_t size = load(words, mantissa);
    int16_t shift = (int16_t)(binary + decimal - 2);
    bool inexact = false;
    size = multiply(words, size, 4, quarters);
    while (shift > 0) {
        int16_t step = shift < 15 ? shift : 15;
        size = multiply(words, size, (uint16_t)(1u << step), 0);
        shift = (int16_t)(shift - step);
    }
    size = scale(words, size, decimal, &inexact);
    if (shift < 0) size = shift_right(words, size, (int16_t)-shift, &inexact);
    print_digits(words, size, to);
    return !inexact;
}

/* Copies an integer's digits without the zeros in front. Gives what is behind them. */
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
    uint16_t words[4];
    print_digits(words, load(words, magnitude), digits);
    return (uint8_t)(print_integer(digits, negative, to) - to);
}

/* Subtracts 1 from an integer's digits. */
static void decrement(char *digits)
{
    uint8_t i = DIGITS - 1;
    for (; digits[i] == '0'; i--) digits[i] = '9';
    digits[i]--;
}

/* Writes `count` digits, of which the first stands for 10^exponent, in the notation of dn__print_double. No whole number below 1e16. */
static char *print(const char *digits, uint8_t count, int16_t exponent, char *at)
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
        uint16_t word = (uint16_t)(exponent < 0 ? -exponent : exponent);
        print_digits(&word, 1, power);
        at = print_integer(power, exponent < 0, at);
    }
    return at;
}

/* The shortest decimal among those that read back as the number (Steele and White, "How to Print Floating-Point Numbers Accurately"), by
 * way of the ends of their interval: scaled to integers, and compared digit by digit. */
uint8_t dn__print_double(uint64_t bits, char *to)
{
    const uint64_t implicit = (uint64_t)1 << 52;
    uint32_t high_bits = (uint32_t)(bits >> 32);
    uint64_t mantissa = bits & (implicit - 1);
    int16_t biased = (int16_t)((high_bits >> 20) & 0x7ff);
    bool negative = high_bits >> 31;
    char *at = to;

    /* Below a power of 2, numbers are half as far apart. */
    bool closer = !mantissa;
    if (biased) mantissa |= implicit;
    int16_t binary = (int16_t)(biased ? biased - 1075 : -1074);
    char low[DIGITS], high[DIGITS], digits[DIGITS];
    /* An integer, of up to 64 bits, and not beyond -2^63. */
    if (binary > -53 && binary < 12 && !(negative && binary == 11 && !closer) && print_scaled(mantissa, 0, binary, 0, digits))
        return (uint8_t)(print_integer(digits, negative, at) - to);
    if (negative) *at++ = '-';
    if (!mantissa) {
        *at++ = '0';
        if (negative) {
            *at++ = '.';
            *at++ = '0';
        }
        return (uint8_t)(at - to);
    }

    /* The floor of the decimal logarithm of 2^n, at most one below the number's; 78913 / 2^18 is log10(2), 400 makes it positive. */
    uint16_t words[4];
    int16_t n = (int16_t)(bit_length(words, load(words, mantissa)) - 1 + binary);
    int16_t log = (int16_t)((int16_t)((n * (int32_t)78913 + ((int32_t)400 << 18)) >> 18) - 400);
    /* So that there are 18 or 19 digits, one more than are ever needed. */
    int16_t decimal = (int16_t)(17 - log);

    /* The decimals above `low` and up to `high` read back as the number; the ends of the interval do when the mantissa is even, because
     * ties go there. */
    bool even = !(mantissa & 1);
    if (print_scaled(mantissa - 1, closer && biased > 1 ? 3 : 2, binary, decimal, low) && even) decrement(low);
    if (print_scaled(mantissa, 2, binary, decimal, high) && !even) decrement(high);
    bool inexact = !print_scaled(mantissa, 0, binary, decimal, digits);

    /* Where the two differ, a shorter decimal lies between them; and just one of its digits is to be chosen. */
    uint8_t first = 0, last = 0;
    while (digits[first] == '0' && high[first] == '0') first++;
    while (low[last] == high[last]) last++;
    for (uint8_t i = DIGITS - 1; i > last + 1; i--) inexact = inexact || digits[i] != '0';
    char next = digits[last + 1];
    bool up = next > '5' || (next == '5' && (inexact || digits[last] & 1));
    if (digits[last] == low[last]) up = true;
    if (digits[last] == high[last]) up = false;
    if (up) digits[last]++;
    return (uint8_t)(print(digits + first, (uint8_t)(last + 1 - first), (int16_t)(DIGITS - 1 - first - decimal), at) - to);
}
