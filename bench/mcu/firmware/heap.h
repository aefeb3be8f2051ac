/* A heap that counts: memory is given out from the start of an array, and returned all at once by heap_reset.
 *
 * Before this header is included, HEAP_SIZE is the size of the array in bytes. malloc takes a few instructions, less than that of any C
 * library, so libraries look somewhat faster than they are.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>
#include <stdint.h>

static uint8_t heap[HEAP_SIZE] __attribute__((aligned(8)));
static size_t heap_at;
/* Bytes that the C library itself holds on to. */
static size_t heap_of_c_library;

static inline void heap_reset(void) { heap_at = 0; }

/* The bytes that were allocated since heap_reset. */
static inline uint32_t heap_used(void) { return (uint32_t)(heap_at + heap_of_c_library); }

static inline void *heap_take(size_t size) {
    void *start = heap + heap_at;
    size = (size + _Alignof(double) - 1) & ~(_Alignof(double) - 1);
    if (size > sizeof heap - heap_at) return NULL;
    heap_at += size;
    return start;
}

#if defined(__arm__)
#include <string.h>

/* newlib's conversion of floats allocates a few numbers, and keeps them for the next conversion. */
struct _reent;
static uint8_t numbers[1024] __attribute__((aligned(8)));

__attribute__((used, externally_visible)) void *_malloc_r(struct _reent *r, size_t size) {
    (void)r;
    void *start = numbers + heap_of_c_library;
    size = (size + 7) & ~(size_t)7;
    if (size > sizeof numbers - heap_of_c_library) return NULL;
    heap_of_c_library += size;
    return start;
}

__attribute__((used, externally_visible)) void *_calloc_r(struct _reent *r, size_t count, size_t size) {
    void *start = _malloc_r(r, count * size);
    return start == NULL ? NULL : memset(start, 0, count * size);
}

__attribute__((used, externally_visible)) void _free_r(struct _reent *r, void *start) {
    (void)r;
    (void)start;
}
#endif

#endif
