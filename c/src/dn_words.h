/* Integers of any length: arrays of words, the lowest first. They are only multiplied and divided by powers of 5 and by small numbers,
 * because the binary exponent holds the powers of 2. Used by dn_decimal.c; not part of the public API. */
#ifndef DN_WORDS_H
#define DN_WORDS_H

#include "dn_decimal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* words = words * factor + add. Returns the new number of words; there must be room for one more. */
dn__size_of_words dn__words_multiply(dn__word *words, dn__size_of_words size, dn__word factor, dn__word add);

/* words = words / divisor. Returns the remainder; the highest word may become 0. The divisor is 125 at most if words have 8 bits;
 * `inverse` is 65536 / divisor. */
dn__word dn__words_divide(dn__word *words, dn__size_of_words size, dn__word divisor, uint16_t inverse);

/* Returns the number of words without the zeros at the top. */
dn__size_of_words dn__words_trim_zeros(const dn__word *words, dn__size_of_words size);

/* words = words * 5^power. A negative power divides, rounds down, and sets `*inexact` if a remainder is lost. Returns the number of
 * words. */
dn__size_of_words dn__words_scale(dn__word *words, dn__size_of_words size, int16_t power, bool *inexact);

/* words = words * 2^-shift for shift >= 0, rounded down. Sets `*inexact` if bits are lost. Returns the number of words. */
dn__size_of_words dn__words_shift_right(dn__word *words, dn__size_of_words size, int16_t shift, bool *inexact);

/* words = value. Returns the number of words. */
dn__size_of_words dn__words_load(dn__word *words, uint64_t value);

/* Returns the integer in `words`, which must have at most 64 bits. */
uint64_t dn__words_to_uint64(const dn__word *words, dn__size_of_words size);

/* Returns the number of bits. The highest word must not be 0. */
int16_t dn__words_bit_length(const dn__word *words, dn__size_of_words size);

#ifdef __cplusplus
}
#endif
#endif
