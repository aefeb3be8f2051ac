/* Memory for the libraries that want some for each message: taken from an array, and returned all at once. HEAP_SIZE is its size in bytes. */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>
#include <stdint.h>

static uint8_t heap[HEAP_SIZE] __attribute__((aligned(8), unused));
static size_t heap_at;

static inline __attribute__((unused)) void heap_reset(void) { heap_at = 0; }

static inline __attribute__((unused)) void *heap_take(size_t size) {
    void *start = heap + heap_at;
    size = (size + 7) & ~(size_t)7;
    if (size > sizeof heap - heap_at) return NULL;
    heap_at += size;
    return start;
}

#endif
