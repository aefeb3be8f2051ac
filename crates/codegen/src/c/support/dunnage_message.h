/* What messages that `dunnage generate c` wrote share. It stands once in a program, whatever messages the program has; do not edit.
 *
 * The first part is for programs. The second part is for generated code: the linker drops what no message uses
 * (-ffunction-sections and -Wl,--gc-sections, or -flto).
 */
#ifndef DUNNAGE_MESSAGE_H
#define DUNNAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVR__)
#include <avr/pgmspace.h>
#endif

/* Generated headers refuse another version. */
#define DUNNAGE_MESSAGE_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* ---- For programs ------------------------------------------------------------------------------------------------------------ */

/* The kind of a fault; the kinds of the packed layout. */
typedef enum dunnage_error {
    DUNNAGE_OK,
    DUNNAGE_TRUNCATED, /* the message ends too early, or the buffer does */
    DUNNAGE_MALFORMED, /* not a message of this version: mode, fill, trailing bytes, another encoding of a value */
    DUNNAGE_RANGE /* a value that the schema does not allow, or another slot */
} dunnage_error;

/* What is wrong with a message. */
typedef struct dunnage_fault {
    uint8_t kind; /* a dunnage_error */
    uint16_t field; /* a NAME_field of the message; NAME_field_name gives its path */
} dunnage_fault;

/* ---- Counts of steps, for the macros of generated headers -------------------------------------------------------------------- */

#if defined(__GNUC__)
#define DUNNAGE_INLINE static inline __attribute__((always_inline, unused))
#else
#define DUNNAGE_INLINE static inline
#endif

/* The count that `value` is nearest to, away from 0 in the middle: value * factor / 2^k, k being `shift` - 126. `other`, which is refused,
 * when that is not between `min` and `max`, or no number. The factor has 32 bits. No floating-point arithmetic: that would take kilobytes
 * where the processor has none. */
static inline int32_t dunnage_scale(float value, uint32_t factor, int16_t shift, int32_t min, int32_t max, int32_t other)
{
    uint32_t bits, mantissa, low, high;
    int32_t count = 0;
    int16_t right;
    memcpy(&bits, &value, sizeof bits);
    right = (int16_t)(shift - (int16_t)(bits >> 23 & 0xff));
    if (right < 2) return other;
    if (right <= 32) {
        /* The upper half of the product. */
        mantissa = bits << 8 | 0x80000000u;
        low = (mantissa >> 16) * (factor & 0xffff) + ((mantissa & 0xffff) * (factor & 0xffff) >> 16);
        high = (mantissa >> 16) * (factor >> 16) + (low >> 16);
        low = (low & 0xffff) + (mantissa & 0xffff) * (factor >> 16);
        high += low >> 16;
        count = (int32_t)(((high >> (right - 1)) + 1) >> 1);
    }
    if (bits >> 31) count = -count;
    return count >= min && count <= max ? count : other;
}

/* The same where binary32 does not tell all counts apart: in the arithmetic of double. */
static inline int32_t dunnage_scale_double(double value, double multiplier, double divisor, int32_t min, int32_t max, int32_t other)
{
    double n = value * multiplier / divisor + (value < 0 ? -0.5 : 0.5);
    int32_t count = n > -2147483648.0 && n < 2147483647.0 ? (int32_t)n : other;
    return count >= min && count <= max ? count : other;
}

/* The same for 64 bits. */
static inline int64_t dunnage_scale_wide(double value, double multiplier, double divisor, int64_t min, int64_t max, int64_t other)
{
    double n = value * multiplier / divisor + (value < 0 ? -0.5 : 0.5);
    int64_t count = n > -9223372036854774784.0 && n < 9223372036854774784.0 ? (int64_t)n : other;
    return count >= min && count <= max ? count : other;
}

/* 10^n, 1 below 0; n is at most 9. A constant where n is one. */
#define DUNNAGE_TEN(n) \
    ((n) <= 0 ? 1u : (n) == 1 ? 10u : (n) == 2 ? 100u : (n) == 3 ? 1000u : (n) == 4 ? 10000u : (n) == 5 ? 100000ul : \
    (n) == 6 ? 1000000ul : (n) == 7 ? 10000000ul : (n) == 8 ? 100000000ul : 1000000000ul)

/* The count that n * multiplier / divisor is nearest to, away from 0 in the middle; `min` is above INT32_MIN. With constants, one of the
 * three ways is left. */
DUNNAGE_INLINE int32_t dunnage_count(int32_t n, uint32_t multiplier, uint64_t divisor, int32_t min, int32_t max, int32_t other)
{
    const uint32_t magnitude = n < 0 ? 0u - (uint32_t)n : (uint32_t)n;
    const uint32_t most = max > -min ? (uint32_t)max : (uint32_t)-min;
    uint32_t sum;
    int32_t count;
    if (multiplier % divisor == 0) {
        const uint32_t factor = (uint32_t)(multiplier / divisor);
        if (magnitude > most / factor) return other;
        sum = magnitude * factor;
    } else if (divisor % multiplier == 0 && divisor / multiplier <= UINT32_MAX) {
        const uint32_t part = (uint32_t)(divisor / multiplier), rest = magnitude % part;
        sum = magnitude / part;
        if (rest >= part - rest) sum++;
    } else {
        const uint64_t wide = ((uint64_t)magnitude * multiplier + divisor / 2) / divisor;
        if (wide > most) return other;
        sum = (uint32_t)wide;
    }
    if (sum > most) return other;
    count = n < 0 ? -(int32_t)sum : (int32_t)sum;
    return count >= min && count <= max ? count : other;
}

/* The same for 64 bits. */
static inline int64_t dunnage_count_wide(int64_t n, uint32_t multiplier, uint64_t divisor, int64_t min, int64_t max, int64_t other)
{
    const uint64_t magnitude = n < 0 ? 0u - (uint64_t)n : (uint64_t)n;
    const uint64_t whole = magnitude / divisor, rest = magnitude % divisor;
    uint64_t sum;
    int64_t count;
    if (whole > (uint64_t)INT64_MAX / multiplier) return other;
    sum = whole * multiplier + (rest * multiplier + divisor / 2) / divisor;
    if (sum > (uint64_t)INT64_MAX) return other;
    count = n < 0 ? -(int64_t)sum : (int64_t)sum;
    return count >= min && count <= max ? count : other;
}

/* ---- For generated code ------------------------------------------------------------------------------------------------------ */

/* Tables stand in flash where that is another address space. */
#if defined(__AVR__)
#define DUNNAGE_FLASH PROGMEM
#else
#define DUNNAGE_FLASH
#endif

/* Between `min` and `max` characters of a class, of a text's pattern. */
typedef struct dunnage_segment {
    uint32_t most; /* the largest product that does not reach 2^32 when it is multiplied by `radix` */
    const uint8_t *ranges; /* of characters: the first, and how many follow it */
    uint8_t radix; /* characters of the class */
    uint8_t count; /* of ranges */
    uint16_t min;
    uint16_t max;
} dunnage_segment;

typedef struct dunnage_writer {
    uint8_t *at; /* where `byte` goes */
    uint8_t *end;
    uint8_t byte; /* is being filled, from its highest bit down */
    uint8_t unit; /* 1 << the number of its bits that are free, 0 to 7 */
    uint8_t error; /* a dunnage_error */
    uint8_t field;
} dunnage_writer;

void dunnage_start_writing(dunnage_writer *w, uint8_t *buffer, size_t size, uint8_t slot);
/* The size of the message; 0 after an error. */
size_t dunnage_end_writing(dunnage_writer *w, const uint8_t *buffer, dunnage_fault *fault);
size_t dunnage_end_writing_checked(dunnage_writer *w, const uint8_t *buffer, dunnage_fault *fault, uint16_t seed, uint16_t polynomial, uint8_t bytes);
void dunnage_refuse(dunnage_writer *w, uint8_t error, uint8_t field);
void dunnage_put_index(uint8_t field, uint32_t value, uint32_t max, dunnage_writer *w);
void dunnage_put_small(uint8_t field, uint8_t value, uint8_t max, dunnage_writer *w);
void dunnage_put_sized(uint8_t field, uint64_t value, dunnage_writer *w);
void dunnage_put_float(uint8_t field, double value, dunnage_writer *w);
void dunnage_put_text(uint8_t field, const char *text, uint16_t min, uint16_t max, dunnage_writer *w);
void dunnage_put_ascii(uint8_t field, const char *text, uint16_t min, uint16_t max, dunnage_writer *w);
void dunnage_put_pattern(uint8_t field, const char *text, const dunnage_segment *segments, uint8_t count, dunnage_writer *w);

typedef struct dunnage_reader {
    const uint8_t *at; /* the byte behind `byte` */
    const uint8_t *end;
    uint8_t byte; /* its bits that were not read yet, 1 to 8, at the top; zeros below */
    uint8_t unit; /* 1 << the number of its bits that were read, 0 to 7 */
    uint8_t over; /* bytes behind the message that were looked at; 2 for more */
    uint8_t error; /* a dunnage_error */
    uint8_t field;
} dunnage_reader;

/* Whether the message has this slot. */
bool dunnage_start_reading(dunnage_reader *r, const uint8_t *bytes, size_t size, uint8_t slot);
/* Whether the check is the message's. `size` is that of both. */
bool dunnage_end_checked(dunnage_reader *r, const uint8_t *bytes, size_t size, uint16_t seed, uint16_t polynomial, uint8_t check);
/* Whether the message is right, its end included. */
bool dunnage_end_reading(dunnage_reader *r, dunnage_fault *fault);
void dunnage_reject(dunnage_reader *r, uint8_t error, uint8_t field);
uint32_t dunnage_get_index(dunnage_reader *r, uint32_t max, uint8_t field);
uint8_t dunnage_get_small(dunnage_reader *r, uint8_t max, uint8_t field);
uint64_t dunnage_get_sized(dunnage_reader *r, uint8_t field);
double dunnage_get_float(dunnage_reader *r, uint8_t field);
void dunnage_get_text(dunnage_reader *r, char *text, uint16_t min, uint16_t max, uint8_t field);
void dunnage_get_ascii(dunnage_reader *r, char *text, uint16_t min, uint16_t max, uint8_t field);
void dunnage_get_pattern(dunnage_reader *r, char *text, const dunnage_segment *segments, const uint16_t *inverses, uint8_t count, uint8_t field);

/* Whether text that a NUL ends has `min` to `max` characters, all ASCII. */
bool dunnage_has_length(const char *text, uint16_t min, uint16_t max);

/* The upper half of `value`. */
static inline uint32_t dunnage_upper(uint64_t value)
{
#if defined(__AVR__)
    uint32_t half; /* little-endian; a shift would take a loop */
    memcpy(&half, (const uint8_t *)&value + 4, sizeof half);
    return half;
#else
    return (uint32_t)(value >> 32);
#endif
}

/* The same beyond 32 bits: the largest value is given in two halves. */
static inline void dunnage_put_wide(uint8_t field, uint64_t value, uint32_t high_max, uint32_t low_max, dunnage_writer *w)
{
    uint32_t high = dunnage_upper(value), low = (uint32_t)value;
    if (high == high_max && low > low_max) dunnage_refuse(w, DUNNAGE_RANGE, field);
    dunnage_put_index(field, high, high_max, w);
    dunnage_put_index(field, low, high_max ? UINT32_MAX : low_max, w);
}

/* The same beyond 32 bits. */
static inline uint64_t dunnage_get_wide(dunnage_reader *r, uint64_t max, uint8_t field)
{
    uint64_t value = (uint64_t)dunnage_get_index(r, dunnage_upper(max), field) << 32;
    value |= dunnage_get_index(r, UINT32_MAX, field);
    if (value <= max) return value;
    dunnage_reject(r, DUNNAGE_RANGE, field);
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif
