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

/* 16-bit words that a decimal needs: the least exponent is -323 - DN_JSON_DIGITS, 5 to its power has 7/3 bits for each, and the quotient
 * needs 64 bits more. 16 bits, because a 32-bit product or quotient is one instruction on Cortex-M3 and cheap on AVR. */
#define DN__DECIMAL_WORDS (((323 + DN_JSON_DIGITS) * 7 / 3 + 80) / 16 + 1)

/* A decimal while it is read: digits * 10^exponent. */
typedef struct dn__decimal {
    int32_t exponent;
    uint16_t digits; /* significant digits that are in `words` */
    uint16_t size; /* words in use; the highest is not 0 */
    bool dropped; /* a digit that is not 0 did not go into `words` */
    uint16_t words[DN__DECIMAL_WORDS]; /* the digits as an integer, lowest word first */
} dn__decimal;

/* Starts at 0. */
void dn__decimal_init(dn__decimal *d);

/* Appends a digit, 0 to 9; `fraction` when it stands behind the point. */
void dn__decimal_digit(dn__decimal *d, uint8_t digit, bool fraction);

/* The integer that the digits are when the exponent is 0: true when it has at most 64 bits. */
bool dn__decimal_integer(const dn__decimal *d, uint64_t *value);

/* What dn__decimal_bits gives for a number that is beyond binary64: the bits of the infinity. */
#define DN__INFINITY 0x7ff0000000000000u

/* The nearest binary64, ties to even, positive; DN__INFINITY when it is too large. `*exact` is whether it is that number. Uses `d` up.
 * The exponent may be anything in -2^30 to 2^30. */
uint64_t dn__decimal_bits(dn__decimal *d, bool *exact);

/* Characters that dn__print_double and dn__print_integer write at most. */
#define DN__NUMBER_TEXT 24

/* Writes the finite binary64 `bits`: as an integer when it is one in -2^63 to 2^64-1, except -0.0; else the shortest text that reads back
 * as it, of these the nearest, with an exponent when it is below 1e-5 or not below 1e16 (`1e-7`, `1.5e+300`). Gives its length; there is
 * no NUL. */
uint8_t dn__print_double(uint64_t bits, char *to);

/* Writes an integer. Gives its length; there is no NUL. */
uint8_t dn__print_integer(uint64_t magnitude, bool negative, char *to);

#ifdef __cplusplus
}
#endif
#endif
