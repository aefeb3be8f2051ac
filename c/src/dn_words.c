/* c/docs/cycles.md lists the cycles of numbers on AVR. */
#include "dn_words.h"
#include "dn_avr.h"

#include <string.h>

#if DN__WORD_BITS == 8
typedef uint16_t product; /* of two words */
#define POWER 3 /* 5^3 is the highest power of 5 that fits a word */
#else
typedef uint32_t product;
#define POWER 6
#endif

DN__APART dn__size_of_words dn__words_multiply(dn__word *words, dn__size_of_words size, dn__word factor, dn__word add)
{
    product carry = add;
    for (dn__size_of_words i = 0; i < size; i++) {
        carry = (product)(carry + (product)words[i] * factor);
        words[i] = (dn__word)carry;
        carry >>= DN__WORD_BITS;
    }
    if (carry) words[size++] = (dn__word)carry;
    return size;
}

DN__APART dn__word dn__words_divide(dn__word *words, dn__size_of_words size, dn__word divisor, uint16_t inverse)
{
    dn__word rest = 0;
#if defined(DN__DIVIDE_BYTES)
    if (size) rest = dn__divide_bytes(words, size, divisor, inverse);
#elif DN__WORD_BITS == 8
    uint8_t upper = (uint8_t)(inverse >> 8), lower = (uint8_t)inverse;
    while (size--) {
        uint8_t low = words[size];
        uint16_t sum = (uint16_t)((uint16_t)rest * lower);
        sum = (uint16_t)(sum + (uint16_t)low * upper);
        uint8_t quotient = (uint8_t)(rest * upper + (uint8_t)(sum >> 8)); /* at most 2 too small */
        uint16_t left = (uint16_t)((uint16_t)((uint16_t)rest << 8 | low) - (uint16_t)quotient * divisor);
        for (; left >= divisor; left = (uint16_t)(left - divisor)) quotient++;
        words[size] = quotient;
        rest = (uint8_t)left;
    }
#else
    (void)inverse;
    while (size--) {
        product dividend = (product)rest << DN__WORD_BITS | words[size];
        words[size] = (dn__word)(dividend / divisor);
        rest = (dn__word)(dividend % divisor);
    }
#endif
    return rest;
}

dn__size_of_words dn__words_trim_zeros(const dn__word *words, dn__size_of_words size)
{
    while (size && !words[size - 1]) size--;
    return size;
}

dn__size_of_words dn__words_scale(dn__word *words, dn__size_of_words size, int16_t power, bool *inexact)
{
    bool down = power < 0;
    uint16_t left = (uint16_t)(down ? -power : power);
    while (left) {
        dn__word factor = 1;
        uint8_t step = 0;
        for (; step < POWER && step < left; step++) factor = (dn__word)(factor * 5);
        left = (uint16_t)(left - step);
        if (!down) size = dn__words_multiply(words, size, factor, 0);
        else {
            if (dn__words_divide(words, size, factor, step == 1 ? 13107 : step == 2 ? 2621 : 524)) *inexact = true;
            size = dn__words_trim_zeros(words, size);
        }
    }
    return size;
}

dn__size_of_words dn__words_shift_right(dn__word *words, dn__size_of_words size, int16_t shift, bool *inexact)
{
    uint16_t skipped = (uint16_t)shift / DN__WORD_BITS;
    dn__size_of_words skip = (dn__size_of_words)(skipped < size ? skipped : size);
    for (dn__size_of_words i = 0; i < skip; i++)
        if (words[i]) *inexact = true;
    size = (dn__size_of_words)(size - skip);
    uint8_t bits = (uint8_t)shift % DN__WORD_BITS;
    if (!bits) {
        memmove(words, words + skip, size * sizeof *words);
        return size;
    }
    /* Multiplies, because AVR shifts by one bit at a time: the upper half of a product is the shifted word, the lower half goes to the
     * word below. */
    dn__word factor = (dn__word)(1u << (DN__WORD_BITS - bits));
    for (dn__size_of_words i = 0; i < size; i++) {
        product moved = (product)((product)words[i + skip] * factor);
        words[i] = (dn__word)(moved >> DN__WORD_BITS);
        if (i) words[i - 1] = (dn__word)(words[i - 1] | (dn__word)moved);
        else if ((dn__word)moved) *inexact = true;
    }
    return dn__words_trim_zeros(words, size);
}

DN__APART dn__size_of_words dn__words_load(dn__word *words, uint64_t value)
{
#if defined(__AVR__)
    memcpy(words, &value, sizeof value);
    return dn__words_trim_zeros(words, sizeof value);
#else
    dn__size_of_words size = 0;
    for (; value; value >>= DN__WORD_BITS) words[size++] = (dn__word)value;
    return size;
#endif
}

DN__APART uint64_t dn__words_to_uint64(const dn__word *words, dn__size_of_words size)
{
    uint64_t value = 0;
#if defined(__AVR__)
    memcpy(&value, words, size);
#else
    while (size--) value = value << DN__WORD_BITS | words[size];
#endif
    return value;
}

DN__APART int16_t dn__words_bit_length(const dn__word *words, dn__size_of_words size)
{
    int16_t bits = (int16_t)(DN__WORD_BITS * ((int16_t)size - 1));
    for (dn__word top = words[size - 1]; top; top = (dn__word)(top >> 1)) bits++;
    return bits;
}
