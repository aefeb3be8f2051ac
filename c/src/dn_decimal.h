/* Converts decimal text to binary64 and back, exactly: every decimal becomes the nearest binary64 (ties to even), and every binary64 the
 * shortest decimal that reads back as it. A binary64 is passed as a uint64_t of its bits, so that this works where double has 32 bits.
 * Used by the JSON files; not part of the public API. Freestanding, no heap, no static RAM. */
#ifndef DN_DECIMAL_H
#define DN_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dn_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers longer than 64 bits consist of words: of 8 bits on AVR, which multiplies only bytes; of 16 bits elsewhere, because a 32-bit
 * product or quotient is one instruction on Cortex-M3. A test defines DN__BYTEWISE to use the words of AVR. */
#if defined(__AVR__) || defined(DN__BYTEWISE)
typedef uint8_t dn__word;
#define DN__WORD_BITS 8
#else
typedef uint16_t dn__word;
#define DN__WORD_BITS 16
#endif

/* The words that a decimal needs: the smallest exponent is -323 - DN_JSON_DIGITS, a power of 5 has 19/8 bits for each unit of its
 * exponent, and the quotient needs 64 bits more. */
#define DN__DECIMAL_WORDS (((323 + DN_JSON_DIGITS) * 19 / 8 + 80) / DN__WORD_BITS + 1)

/* A number of words. */
#if DN__DECIMAL_WORDS <= 255
typedef uint8_t dn__size_of_words;
#else
typedef uint16_t dn__size_of_words;
#endif

/* A decimal that is being read: digits * 10^exponent. */
typedef struct dn__decimal {
    int32_t exponent;
    uint16_t digits; /* significant digits in `words` */
    dn__size_of_words size; /* words in use; the highest is not 0 */
    bool dropped; /* a digit other than 0 did not fit `words` */
    dn__word words[DN__DECIMAL_WORDS]; /* the digits as an integer, lowest word first */
} dn__decimal;

/* Sets the decimal to 0. */
void dn__decimal_init(dn__decimal *d);

/* Appends a digit, 0 to 9. `fraction` is true for digits after the decimal point. */
void dn__decimal_digit(dn__decimal *d, uint8_t digit, bool fraction);

/* Appends the digits from `at` up to `end`. Returns the position of the first other character, or `end`. */
const uint8_t *dn__decimal_digits(dn__decimal *d, const uint8_t *at, const uint8_t *end, bool fraction);

/* Stores the decimal in `*value` if it is an integer of at most 64 bits with the exponent 0; otherwise returns false. */
bool dn__decimal_integer(const dn__decimal *d, uint64_t *value);

/* The result of dn__decimal_bits for a number that is beyond binary64, or so small that it would become 0: the bits of infinity. */
#define DN__INFINITY ((uint64_t)0x7ff00000 << 32)

/* The same as dn__decimal_integer for at most 32 bits. */
bool dn__decimal_low(const dn__decimal *d, uint32_t *value);

/* Returns the bits of the nearest binary64 (ties to even), which is positive, or DN__INFINITY when the number is too large or too small.
 * Sets `*exact` to whether the result equals the number. Overwrites `d`. The exponent must be in -2^30 to 2^30. */
uint64_t dn__decimal_bits(dn__decimal *d, bool *exact);

/* The most characters that dn__print_double, dn__print_float and dn__print_integer write. */
#define DN__NUMBER_TEXT 24

/* Writes the finite binary64 `bits` to `to`: as an integer if it is one in -2^63 to 2^64-1, except -0.0; otherwise as the shortest text
 * that reads back as it, and among these the nearest, with an exponent below 1e-5 and from 1e16 on (`1e-7`, `1.5e+300`). Returns the number
 * of characters; does not write a NUL. */
uint8_t dn__print_double(uint64_t bits, char *to);

/* The same for the finite binary32 `bits`: the shortest text that reads back as this binary32. */
uint8_t dn__print_float(uint32_t bits, char *to);

/* Writes an integer to `to`. Returns the number of characters; does not write a NUL. */
uint8_t dn__print_integer(uint64_t magnitude, bool negative, char *to);

#ifdef __cplusplus
}
#endif
#endif
