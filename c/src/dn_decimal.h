/* Decimal text to binary64 and back, exactly: every decimal becomes the nearest binary64 (ties to even), and every binary64 the
 * shortest decimal that reads back as it. A binary64 is a uint64_t of its bits, so that this works where double has 32 bits.
 * Part of the JSON files; not for users. Freestanding, no heap, no static RAM. */
#ifndef DN_DECIMAL_H
#define DN_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dn_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that are longer than 64 bits are made of words: of 8 bits on AVR, which multiplies only bytes, elsewhere of 16, because a 32-bit product
 * or quotient is one instruction on Cortex-M3. A test defines DN__BYTEWISE to have those of AVR, too. */
#if defined(__AVR__) || defined(DN__BYTEWISE)
typedef uint8_t dn__word;
#define DN__WORD_BITS 8
#else
typedef uint16_t dn__word;
#define DN__WORD_BITS 16
#endif

/* Words that a decimal needs: the least exponent is -323 - DN_JSON_DIGITS, 5 to its power has 19/8 bits for each, and the quotient needs 64 bits
 * more. */
#define DN__DECIMAL_WORDS (((323 + DN_JSON_DIGITS) * 19 / 8 + 80) / DN__WORD_BITS + 1)

/* A number of words. */
#if DN__DECIMAL_WORDS <= 255
typedef uint8_t dn__size_of_words;
#else
typedef uint16_t dn__size_of_words;
#endif

/* A decimal while it is read: digits * 10^exponent. */
typedef struct dn__decimal {
    int32_t exponent;
    uint16_t digits; /* significant digits that are in `words` */
    dn__size_of_words size; /* words in use; the highest is not 0 */
    bool dropped; /* a digit that is not 0 did not go into `words` */
    dn__word words[DN__DECIMAL_WORDS]; /* the digits as an integer, lowest word first */
} dn__decimal;

/* Starts at 0. */
void dn__decimal_init(dn__decimal *d);

/* Appends a digit, 0 to 9; `fraction` when it stands behind the point. */
void dn__decimal_digit(dn__decimal *d, uint8_t digit, bool fraction);

/* Appends the digits at `at`, up to `end`. Gives where something else stands. */
const uint8_t *dn__decimal_digits(dn__decimal *d, const uint8_t *at, const uint8_t *end, bool fraction);

/* The integer that the digits are when the exponent is 0: true when it has at most 64 bits. */
bool dn__decimal_integer(const dn__decimal *d, uint64_t *value);

/* What dn__decimal_bits gives for a number that is beyond binary64, or so small that it would become 0: the bits of the infinity. */
#define DN__INFINITY 0x7ff0000000000000u

/* The same for at most 32 bits. */
bool dn__decimal_low(const dn__decimal *d, uint32_t *value);

/* The nearest binary64, ties to even, positive; DN__INFINITY when it is too large or too small. `*exact` is whether it is that number. Uses `d` up.
 * The exponent may be anything in -2^30 to 2^30. */
uint64_t dn__decimal_bits(dn__decimal *d, bool *exact);

/* Characters that dn__print_double, dn__print_float and dn__print_integer write at most. */
#define DN__NUMBER_TEXT 24

/* Writes the finite binary64 `bits`: as an integer when it is one in -2^63 to 2^64-1, except -0.0; else the shortest text that reads back
 * as it, of these the nearest, with an exponent when it is below 1e-5 or not below 1e16 (`1e-7`, `1.5e+300`). Gives its length; there is
 * no NUL. */
uint8_t dn__print_double(uint64_t bits, char *to);

/* The same for the finite binary32 `bits`: the shortest text that reads back as this binary32. */
uint8_t dn__print_float(uint32_t bits, char *to);

/* Writes an integer. Gives its length; there is no NUL. */
uint8_t dn__print_integer(uint64_t magnitude, bool negative, char *to);

#ifdef __cplusplus
}
#endif
#endif
