/* How the measured code calls cJSON: it builds a document on the heap and prints it, or parses text to a document and walks that. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "cJSON.h"
#include "measure.h"

#include <stdlib.h>

/* A node for each value, and each text with its NUL and the byte that cJSON adds, rounded up. */
#define ROUNDED(size) (((size) + _Alignof(double) - 1) & ~(_Alignof(double) - 1))
#define HEAP_SIZE (MESSAGE_VALUES * ROUNDED(sizeof(cJSON)) + MESSAGE_TEXT + (MESSAGE_KEYS + MESSAGE_VALUES) * _Alignof(double) + 16)
#include "heap.h"

/* peer.toml gives these functions names of their own, so that they do not clash with those of the C library. */
__attribute__((used, externally_visible)) void *malloc(size_t size) { return heap_take(size); }
__attribute__((used, externally_visible)) void free(void *start) { (void)start; }
/* It grows the buffer of cJSON_Print, which is not called. */
__attribute__((used, externally_visible)) void *realloc(void *start, size_t size) {
    (void)start;
    (void)size;
    return NULL;
}

/* ---- Encode ---- */
typedef struct {
    cJSON *root;
    cJSON *open[MESSAGE_DEPTH];
    uint8_t depth;
    const char *key;
    char *to;
    size_t size;
} builder;

/* Keys and text stay where they are: the document refers to them. */
static __attribute__((unused)) void add(builder *b, cJSON *item) {
    if (b->depth == 0) {
        b->root = item;
    } else if (b->key != NULL) {
        cJSON_AddItemToObjectCS(b->open[b->depth - 1], b->key, item);
        b->key = NULL;
    } else {
        cJSON_AddItemToArray(b->open[b->depth - 1], item);
    }
}

static __attribute__((unused)) void open(builder *b, cJSON *item) {
    add(b, item);
    b->open[b->depth++] = item;
}

static __attribute__((unused)) size_t finish(builder *b) {
    bool ok = cJSON_PrintPreallocated(b->root, b->to, (int)b->size, false);
    cJSON_Delete(b->root);
    return ok ? strlen(b->to) : 0;
}

#define WRITER(buffer, length) \
    builder b = {.to = (char *)(buffer), .size = (length)}; \
    heap_reset()
#define WRITTEN() finish(&b)
#define WRITE_MAP(entries) open(&b, cJSON_CreateObject())
#define WRITE_ARRAY(elements) open(&b, cJSON_CreateArray())
#define END_MAP() b.depth--
#define END_ARRAY() b.depth--
#define WRITE_KEY(literal) b.key = literal
#define WRITE_TEXT(text) add(&b, cJSON_CreateStringReference(text))
#define WRITE_NUMBER(value) add(&b, cJSON_CreateNumber((double)(value)))
#define WRITE_U32(value) WRITE_NUMBER(value)
#define WRITE_I32(value) WRITE_NUMBER(value)
#define WRITE_U64(value) WRITE_NUMBER(value)
#define WRITE_I64(value) WRITE_NUMBER(value)
#define WRITE_FLOAT(value) WRITE_NUMBER(value)
#define WRITE_DOUBLE(value) WRITE_NUMBER(value)
#define WRITE_BOOL(value) add(&b, cJSON_CreateBool(value))
#define WRITE_NULL() add(&b, cJSON_CreateNull())

/* ---- Decode: every item of the message ---- */
#ifdef WALK
static void walk_item(const cJSON *item) {
    switch (item->type & 0xff) {
    case cJSON_Object:
        fold_map((uint32_t)cJSON_GetArraySize(item));
        for (const cJSON *child = item->child; child != NULL; child = child->next) {
            fold_key(child->string, strlen(child->string));
            walk_item(child);
        }
        break;
    case cJSON_Array:
        fold_array((uint32_t)cJSON_GetArraySize(item));
        for (const cJSON *child = item->child; child != NULL; child = child->next) walk_item(child);
        break;
    case cJSON_String: fold_text(item->valuestring, strlen(item->valuestring)); break;
    case cJSON_Number: fold_double(item->valuedouble); break;
    case cJSON_NULL: fold_null(); break;
    default: fold_bool((item->type & 0xff) == cJSON_True);
    }
}

static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    heap_reset();
    cJSON *document = cJSON_ParseWithLength((const char *)message, size);
    if (document == NULL) return false;
    walk_item(document);
    cJSON_Delete(document);
    return true;
}
#endif

#endif
