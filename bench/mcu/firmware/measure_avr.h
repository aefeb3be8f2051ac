/* The marks and folds on AVR, for simavr/run.c.
 *
 *     GPIOR0   1 starts a region, 2 ends it
 *     GPIOR1   the kind of the following bytes: the letter of a fold_ function below, or 'r' for the ID of the region
 *     GPIOR2   the bytes
 *
 * A write to a register takes one cycle, so a folded number costs 6. Text is folded as its address and length; the simulator reads it.
 */
#ifndef MEASURE_AVR_H
#define MEASURE_AVR_H

#include <avr/io.h>
#include <string.h>

/* run.c subtracts the two cycles of the closing mark. */
#define MEASURE(region, statement) \
    do { \
        GPIOR1 = 'r'; \
        GPIOR2 = (region); \
        mark(1); \
        statement; \
        mark(2); \
    } while (0)

/* Inline assembly, because otherwise the compiler keeps each constant in its own register and calls a function for two bytes. */
#define INLINE static inline __attribute__((always_inline))
#define OUT(address, constant) \
    do { \
        uint8_t scratch; \
        __asm__ volatile("ldi %0, %1\n\tout %2, %0" : "=d"(scratch) : "M"(constant), "I"(_SFR_IO_ADDR(address)) : "memory"); \
    } while (0)

INLINE void mark(const uint8_t what) { OUT(GPIOR0, what); }

INLINE void fold_8(uint8_t value) { GPIOR2 = value; }

INLINE void fold_16(uint16_t value) {
    fold_8((uint8_t)value);
    fold_8((uint8_t)(value >> 8));
}

INLINE void fold_32(uint32_t value) {
    fold_16((uint16_t)value);
    fold_16((uint16_t)(value >> 16));
}

INLINE void fold_64(uint64_t value) {
    fold_32((uint32_t)value);
    fold_32((uint32_t)(value >> 32));
}

INLINE void fold_span(const uint8_t kind, const void *at, size_t size) {
    OUT(GPIOR1, kind);
    fold_16((uint16_t)at);
    fold_16((uint16_t)size);
}

INLINE void fold_u32(uint32_t value) { OUT(GPIOR1, 'u'); fold_32(value); }
INLINE void fold_u64(uint64_t value) { OUT(GPIOR1, 'u'); fold_64(value); }
INLINE void fold_i32(int32_t value) { OUT(GPIOR1, 'i'); fold_32((uint32_t)value); }
INLINE void fold_i64(int64_t value) { OUT(GPIOR1, 'i'); fold_64((uint64_t)value); }
INLINE void fold_bool(bool value) { OUT(GPIOR1, 'b'); fold_8(value); }
INLINE void fold_null(void) { OUT(GPIOR1, 'z'); }
INLINE void fold_map(uint32_t entries) { OUT(GPIOR1, 'm'); fold_16((uint16_t)entries); }
INLINE void fold_array(uint32_t elements) { OUT(GPIOR1, 'a'); fold_16((uint16_t)elements); }
INLINE void fold_key(const char *text, size_t size) { fold_span('k', text, size); }
INLINE void fold_text(const char *text, size_t size) { fold_span('t', text, size); }
INLINE void fold_bytes(const void *bytes, size_t size) { fold_span('x', bytes, size); }

INLINE void fold_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    OUT(GPIOR1, 'f');
    fold_32(bits);
}

/* On AVR, double is binary32. */
INLINE void fold_double(double value) { fold_float((float)value); }

#endif
