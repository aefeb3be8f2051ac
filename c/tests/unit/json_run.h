/* Runs conversions between JSON and PSON, for the tests of both. */
#ifndef JSON_RUN_H
#define JSON_RUN_H

#include "../compare_messages.h"
#include "dn_json.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 21 };
static uint8_t message[ROOM]; /* the last message */
static char text[ROOM];

typedef struct {
    dn_error error;
    uint32_t offset;
    dn_error write_error;
    size_t size;
} outcome;

/* Reads `json` in pieces: the first of `first` bytes, then of `step`. */
static inline outcome read_json(const char *json, size_t size, size_t first, size_t step, dn_writer *w)
{
    dn_json_reader j;
    memset(&j, 0xa5, sizeof j);
    dn_json_reader_init(&j, w);
    size_t at = 0;
    for (size_t piece = first; at < size; at += piece, piece = step) {
        if (piece > size - at) piece = size - at;
        /* A copy on the heap, so that the sanitizer detects reading beyond it. */
        char *copy = (char *)malloc(piece ? piece : 1);
        if (piece) memcpy(copy, json + at, piece);
        dn_json_read(&j, copy, piece);
        free(copy);
    }
    bool ok = dn_json_finish(&j);
    CHECK(ok == (!j.error && !w->error));
    CHECK(!dn_json_finish(&j) || ok);
    outcome o = {j.error, j.offset, w->error, dn_written(w)};
    return o;
}

static inline outcome to_message(const char *json, size_t size, size_t first, size_t step)
{
    dn_writer w;
    dn_writer_init(&w, message, sizeof message);
    return read_json(json, size, first, step, &w);
}

typedef struct {
    size_t size;
    size_t most; /* the bytes that it accepts */
    char *to;
} collector;

static inline bool collect(void *context, const uint8_t *bytes, size_t size)
{
    collector *c = (collector *)context;
    CHECK(size >= 1 && size <= 32);
    if (size > c->most - c->size) return false;
    memcpy(c->to + c->size, bytes, size);
    c->size += size;
    return true;
}

static inline size_t from_hex(const char *hex, uint8_t *to)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};
        to[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return n;
}

/* Writes the whole message to `text`, which accepts `most` bytes. */
static inline bool write_json(const uint8_t *bytes, size_t size, size_t most, collector *c, dn_reader *r)
{
    c->size = 0;
    c->most = most;
    c->to = text;
    dn_reader_init(r, bytes, size);
    return dn_json_write(r, collect, c);
}

#endif
