/* How the measured code calls libbson: it appends to a document in the caller's buffer, and iterates over one. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "measure.h"

#include <bson/bson.h>
#include <stdio.h>

/* For the bson_t of the document, which libbson allocates. */
#define HEAP_SIZE (2 * sizeof(bson_t))
#include "heap.h"

/* peer.toml gives these functions names of their own, so that they do not clash with those of the C library. */
__attribute__((used, externally_visible)) void *malloc(size_t size) { return heap_take(size); }
__attribute__((used, externally_visible)) void free(void *start) { (void)start; }
__attribute__((used, externally_visible)) void *calloc(size_t count, size_t size) {
    void *start = heap_take(count * size);
    return start == NULL ? NULL : memset(start, 0, count * size);
}
__attribute__((used, externally_visible)) int posix_memalign(void **start, size_t alignment, size_t size) {
    (void)alignment;
    *start = heap_take(size);
    return *start == NULL;
}
/* It grows documents on the heap, of which there are none. */
__attribute__((used, externally_visible)) void *realloc(void *start, size_t size) {
    (void)start;
    (void)size;
    return NULL;
}

/* Where libbson would print before it aborts. */
__attribute__((used, externally_visible)) FILE *const stderr = NULL;
__attribute__((used, externally_visible, noreturn)) void abort(void) {
    for (;;) {}
}

/* ---- Encode ---- */
typedef struct {
    bson_t *root;
    bson_t inner[MESSAGE_DEPTH];
    /* The next index of an array, and -1 in a map. */
    int32_t index[MESSAGE_DEPTH];
    uint8_t depth;
    const char *key;
    char digits[12];
    bool ok;
} builder;

static __attribute__((unused)) bson_t *place(builder *b) {
    int32_t *index = &b->index[b->depth - 1];
    if (*index >= 0) bson_uint32_to_string((uint32_t)(*index)++, &b->key, b->digits, sizeof b->digits);
    return b->depth == 1 ? b->root : &b->inner[b->depth - 2];
}

/* The message itself is a map, which exists already. */
static __attribute__((unused)) void begin(builder *b, bool map) {
    if (b->depth > 0) {
        bson_t *to = place(b), *inner = &b->inner[b->depth - 1];
        b->ok &= map ? bson_append_document_begin(to, b->key, -1, inner) : bson_append_array_begin(to, b->key, -1, inner);
    }
    b->index[b->depth++] = map ? -1 : 0;
}

static __attribute__((unused)) void end(builder *b) {
    b->depth--;
    if (b->depth > 0) b->ok &= bson_append_document_end(b->depth == 1 ? b->root : &b->inner[b->depth - 2], &b->inner[b->depth - 1]);
}

static __attribute__((unused)) void append_integer(builder *b, int64_t value) {
    bson_t *to = place(b);
    b->ok &= value == (int32_t)value ? bson_append_int32(to, b->key, -1, (int32_t)value) : bson_append_int64(to, b->key, -1, value);
}

static __attribute__((unused)) void *do_not_grow(void *start, size_t size, void *context) {
    (void)start;
    (void)size;
    (void)context;
    return NULL;
}

static __attribute__((unused)) size_t finish(builder *b) {
    size_t size = b->ok ? b->root->len : 0;
    bson_destroy(b->root);
    return size;
}

/* libbson appends to the document in the buffer, which is empty at first: its length, and the final NUL. */
#define WRITER(buffer, length) \
    uint8_t *start = (buffer); \
    size_t room = (length); \
    memcpy(start, "\5\0\0\0", 5); \
    heap_reset(); \
    builder b = {.ok = true, .root = bson_new_from_buffer(&start, &room, do_not_grow, NULL)}
#define WRITTEN() finish(&b)
#define WRITE_MAP(entries) begin(&b, true)
#define WRITE_ARRAY(elements) begin(&b, false)
#define END_MAP() end(&b)
#define END_ARRAY() end(&b)
#define WRITE_KEY(literal) b.key = literal
#define APPEND(type, ...) \
    do { \
        bson_t *to = place(&b); \
        b.ok &= bson_append_##type(to, b.key, -1, ##__VA_ARGS__); \
    } while (0)
#define WRITE_TEXT(text) APPEND(utf8, text, -1)
#define WRITE_U32(value) append_integer(&b, value)
#define WRITE_I32(value) append_integer(&b, value)
#define WRITE_U64(value) append_integer(&b, (int64_t)(value))
#define WRITE_I64(value) append_integer(&b, value)
#define WRITE_FLOAT(value) APPEND(double, value)
#define WRITE_DOUBLE(value) APPEND(double, value)
#define WRITE_BOOL(value) APPEND(bool, value)
#define WRITE_NULL() APPEND(null)

/* ---- Decode: every item of the message ---- */
#ifdef WALK
static bool walk_items(bson_iter_t *item, bool map) {
    bson_iter_t counted = *item, inner;
    uint32_t count = 0, size;
    while (bson_iter_next(&counted)) count++;
    if (map) fold_map(count);
    else fold_array(count);
    while (bson_iter_next(item)) {
        if (map) fold_key(bson_iter_key(item), strlen(bson_iter_key(item)));
        switch (bson_iter_type(item)) {
        case BSON_TYPE_DOCUMENT:
        case BSON_TYPE_ARRAY:
            if (!bson_iter_recurse(item, &inner) || !walk_items(&inner, bson_iter_type(item) == BSON_TYPE_DOCUMENT)) return false;
            break;
        case BSON_TYPE_UTF8: {
            const char *text = bson_iter_utf8(item, &size);
            fold_text(text, size);
            break;
        }
        case BSON_TYPE_INT32: fold_i32(bson_iter_int32(item)); break;
        case BSON_TYPE_INT64: fold_i64(bson_iter_int64(item)); break;
        case BSON_TYPE_DOUBLE: fold_double(bson_iter_double(item)); break;
        case BSON_TYPE_BOOL: fold_bool(bson_iter_bool(item)); break;
        case BSON_TYPE_NULL: fold_null(); break;
        default: return false;
        }
    }
    return true;
}

static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    bson_iter_t item;
    heap_reset();
    return bson_iter_init_from_data(&item, message, size) && walk_items(&item, true);
}
#endif

#endif
