/* How the measured code calls Dunnage. Another library has a header with the same macros: see ../../peers/README.md. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "dn_bind.h"
#include "dn_pson.h"
#include "measure.h"

/* ---- Encode ---- */
#define WRITER(buffer, size) \
    dn_writer w; \
    dn_writer_init(&w, buffer, size)
#define WRITTEN() (w.error ? 0 : dn_written(&w))
#define WRITE_MAP(entries) dn_write_map(&w, entries)
#define WRITE_ARRAY(elements) dn_write_array(&w, elements)
#define WRITE_KEY(literal) DN_WRITE_KEY(&w, literal)
#define WRITE_TEXT(text) dn_write_str(&w, text)
#define WRITE_U32(value) dn_write_uint(&w, value)
#define WRITE_I32(value) dn_write_int(&w, value)
#define WRITE_U64(value) dn_write_u64(&w, value)
#define WRITE_I64(value) dn_write_i64(&w, value)
#define WRITE_FLOAT(value) dn_write_float(&w, value)
#define WRITE_DOUBLE(value) dn_write_double(&w, value)
#define WRITE_BOOL(value) dn_write_bool(&w, value)
#define WRITE_NULL() dn_write_null(&w)
#define END_MAP()
#define END_ARRAY()

/* ---- Decode: every item of the message ----
 * WIDE is defined when the message has integers of more than 32 bits, or numbers that only binary64 holds. */
#ifdef WALK
static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    dn_reader r;
    dn_reader_init(&r, message, size);
    for (;;) {
        switch (dn_next(&r)) {
        case DN_KEY: fold_key(dn_chars(&r), r.n); break;
        case DN_TEXT: fold_text(dn_chars(&r), r.n); break;
        case DN_MAP: fold_map(r.n); break;
        case DN_ARRAY: fold_array(r.n); break;
        case DN_END: break;
        case DN_BOOL: fold_bool((uint8_t)r.n); break;
        case DN_NULL: fold_null(); break;
        case DN_FLOAT: fold_float(dn_float(&r)); break;
#ifdef WIDE
        case DN_UINT: fold_u64(dn_get_u64(&r)); break;
        case DN_NEGATIVE: fold_i64(dn_get_i64(&r)); break;
        case DN_DOUBLE: fold_double(dn_get_double(&r)); break;
#else
        /* The type is known: no conversion is needed, and none is linked. */
        case DN_UINT:
            if (r.wide) return false;
            fold_u32(r.n);
            break;
        case DN_NEGATIVE:
            if (r.wide || r.n > (uint32_t)INT32_MAX + 1) return false;
            fold_i32((int32_t)(0 - r.n));
            break;
#endif
        default: return dn_done(&r);
        }
    }
}
#endif

/* ---- JSON ---- */
#ifdef JSON
#include "dn_json.h"

typedef struct {
    uint8_t *at, *end;
} output;

static bool append_chunk(void *context, const uint8_t *bytes, size_t size) {
    output *out = context;
    if (size > (size_t)(out->end - out->at)) return false;
    memcpy(out->at, bytes, size);
    out->at += size;
    return true;
}

static __attribute__((noinline, unused)) size_t print(const void *message, size_t size, uint8_t *to, size_t room) {
    output out = {to, to + room};
    dn_reader r;
    dn_reader_init(&r, message, size);
    return dn_json_write(&r, append_chunk, &out) && dn_done(&r) ? (size_t)(out.at - to) : 0;
}

static __attribute__((noinline, unused)) size_t parse(const void *text, size_t size, uint8_t *to, size_t room) {
    dn_writer w;
    dn_json_reader j;
    dn_writer_init(&w, to, room);
    dn_json_reader_init(&j, &w);
    dn_json_read(&j, (const char *)text, size);
    return dn_json_finish(&j) ? dn_written(&w) : 0;
}
#endif

#endif
