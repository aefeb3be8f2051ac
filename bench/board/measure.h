/* The functions to which the libraries' macros report on a board. They store each value in a volatile variable, so that the compiler cannot
 * remove the work that produced it.
 * The functions are those of ../mcu/firmware/measure.h. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline, unused))

/* The compiler may assume nothing about what `pointer` points to: neither that it is constant, nor what it holds. */
#define HIDE(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

static volatile uint32_t folded __attribute__((unused));

INLINE void fold_u32(uint32_t value) { folded = value; }
INLINE void fold_i32(int32_t value) { folded = (uint32_t)value; }
INLINE void fold_u64(uint64_t value) { folded = (uint32_t)value, folded = (uint32_t)(value >> 32); }
INLINE void fold_i64(int64_t value) { fold_u64((uint64_t)value); }
INLINE void fold_bool(bool value) { folded = value; }
INLINE void fold_null(void) { folded = 0; }
INLINE void fold_map(uint32_t entries) { folded = entries; }
INLINE void fold_array(uint32_t elements) { folded = elements; }
INLINE void fold_bytes(const void *at, size_t size) { folded = (uint32_t)(uintptr_t)at, folded = (uint32_t)size; }
INLINE void fold_key(const char *text, size_t size) { fold_bytes(text, size); }
INLINE void fold_text(const char *text, size_t size) { fold_bytes(text, size); }

INLINE void fold_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    fold_u32(bits);
}

INLINE void fold_double(double value) {
#if __SIZEOF_DOUBLE__ == 4
    fold_float((float)value);
#else
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    fold_u64(bits);
#endif
}

#endif
