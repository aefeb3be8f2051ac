/* Shared by the fuzz targets. REQUIRE aborts when a condition is false, so that the fuzzer keeps the input. */
#ifndef FUZZ_H
#define FUZZ_H

#include "dn_pson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* Returns a copy of `size` bytes on the heap, of exactly that size, so that the sanitizer detects accesses beyond it. */
static inline uint8_t *copy_exact(const void *bytes, size_t size)
{
    uint8_t *copy = (uint8_t *)malloc(size ? size : 1);
    REQUIRE(copy != NULL);
    if (size) memcpy(copy, bytes, size);
    return copy;
}

/* Ends the reader, and returns its fault. */
static inline dn_fault fault_of(dn_reader *r)
{
    dn_done(r);
    dn_fault fault = {r->error, r->error ? dn_error_offset(r) : 0};
    return fault;
}

static inline bool same_fault(dn_fault a, dn_fault b)
{
    return a.kind == b.kind && a.offset == b.offset;
}

/* Writes the current item, or the header of the current container. */
static inline void rewrite_item(dn_writer *w, dn_reader *r)
{
    switch (r->type) {
    case DN_KEY:
    case DN_TEXT: dn_write_text(w, dn_chars(r), (size_t)r->n); break;
    case DN_BYTES: dn_write_bytes(w, dn_chars(r), (size_t)r->n); break;
    case DN_UINT: dn_write_u64(w, dn_get_u64(r)); break;
    case DN_NEGATIVE: dn_write_i64(w, dn_get_i64(r)); break;
    case DN_FLOAT: dn_write_float(w, dn_get_float(r)); break;
    case DN_DOUBLE: dn_write_double(w, dn_get_double(r)); break;
    case DN_BOOL: dn_write_bool(w, dn_get_bool(r)); break;
    case DN_NULL: dn_write_null(w); break;
    case DN_MAP: dn_write_map(w, (uint32_t)r->n); break;
    case DN_ARRAY: dn_write_array(w, (uint32_t)r->n); break;
    default: REQUIRE(r->type == DN_END);
    }
}

/* Writes a message that dn_check accepts again, in canonical form. */
static inline void rewrite(dn_writer *w, const uint8_t *message, size_t size)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    while (dn_next(&r) != DN_STOP) rewrite_item(w, &r);
    REQUIRE(dn_done(&r));
}

#endif
