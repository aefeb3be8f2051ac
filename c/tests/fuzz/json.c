/* JSON text to PSON and back, and PSON to JSON text and back, from arbitrary bytes. The first byte says which, and how the text is cut.
 *     clang -std=c99 -O1 -g -fsanitize=fuzzer,address,undefined -I src tests/fuzz/json.c src/(all).c */
#include "dn_json.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 17 };
static uint8_t message[ROOM], again[ROOM];
static char text[ROOM];

typedef struct {
    size_t size;
} collected;

static bool collect(void *context, const uint8_t *bytes, size_t size)
{
    collected *c = (collected *)context;
    if (size > sizeof text - c->size) return false;
    memcpy(text + c->size, bytes, size);
    c->size += size;
    return true;
}

static void holds(bool condition)
{
    if (!condition) abort();
}

/* Reads JSON in pieces of `piece` bytes. */
static bool read_json(const char *json, size_t size, size_t piece, uint8_t *to, dn_json_reader *j, dn_writer *w)
{
    dn_writer_init(w, to, ROOM);
    dn_json_reader_init(j, w);
    for (size_t at = 0; at < size; at += piece) {
        if (piece > size - at) piece = size - at;
        dn_json_read(j, json + at, piece);
    }
    return dn_json_finish(j);
}

/* Writes a message as JSON, and reads that: the message has to be what it was, or `canonical` is false. */
static void write_and_read(const uint8_t *bytes, size_t size, size_t piece, bool canonical)
{
    dn_reader r;
    dn_writer w;
    dn_json_reader j;
    collected c = {0};
    dn_reader_init(&r, bytes, size);
    bool ok = dn_json_write(&r, collect, &c) && dn_done(&r);
    holds(ok || r.error || c.size > sizeof text - 32);
    if (!ok) {
        holds(!canonical || c.size > sizeof text - 32);
        return;
    }
    holds(read_json(text, c.size, piece, again, &j, &w) || w.error);
    if (w.error) return;
    size_t length = dn_written(&w);
    if (canonical) holds(length == size && memcmp(again, bytes, size) == 0);
    dn_fault strict = dn_check(again, length, true), lenient = dn_check(again, length, false);
    holds(strict.kind == lenient.kind && strict.offset == lenient.offset); /* keys that stand twice are the only fault left */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    size_t piece = (size_t)(data[0] >> 1) + 1;
    if (data[0] & 1) {
        write_and_read(data + 1, size - 1, piece, false);
        return 0;
    }
    dn_writer w, v;
    dn_json_reader j, k;
    const char *json = (const char *)data + 1;
    bool ok = read_json(json, size - 1, piece, message, &j, &w);
    holds(read_json(json, size - 1, size, again, &k, &v) == ok);
    holds(j.error == k.error && j.offset == k.offset && w.error == v.error && dn_written(&w) == dn_written(&v));
    if (!ok) return 0;
    size_t length = dn_written(&w);
    holds(memcmp(message, again, length) == 0);
    write_and_read(message, length, piece, true);
    return 0;
}
