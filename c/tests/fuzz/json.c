/* The input is used as a message, and then as a JSON text: converting it and converting the result back must give the same
 * value. */
#include "../compare_messages.h"
#include "dn_json.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A growing text; accepts up to `most` bytes. */
typedef struct {
    char *at;
    size_t size;
    size_t room;
    size_t most;
} text;

static bool append(void *context, const uint8_t *bytes, size_t size)
{
    text *t = (text *)context;
    REQUIRE(size > 0 && size <= 32);
    if (size > t->most - t->size) return false;
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size);
        t->at = (char *)realloc(t->at, t->room);
        REQUIRE(t->at != NULL);
    }
    memcpy(t->at + t->size, bytes, size);
    t->size += size;
    return true;
}

/* Converts a message to JSON. Returns its fault. */
static dn_fault to_json(const uint8_t *message, size_t size, text *to)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    bool written = dn_json_write(&r, append, to);
    REQUIRE(written || r.error);
    dn_fault fault = {r.error, r.error ? dn_error_offset(&r) : 0};
    return written ? fault_of(&r) : fault;
}

/* Converts JSON, in pieces of `piece` bytes, to a message in a buffer of `room` bytes. Sets `*length` to its size, and returns
 * the fault of the text. */
static dn_fault from_json(const char *json, size_t size, size_t piece, uint8_t *to, size_t room, size_t *length)
{
    dn_writer w;
    dn_json_reader j;
    dn_writer_init(&w, to, room);
    dn_json_reader_init(&j, &w);
    for (size_t at = 0; at < size; at += piece) {
        size_t left = size - at < piece ? size - at : piece;
        uint8_t *copy = copy_exact(json + at, left);
        bool good = dn_json_read(&j, (const char *)copy, left);
        REQUIRE(good == !j.error);
        free(copy);
        if (!good) break;
    }
    bool finished = dn_json_finish(&j);
    REQUIRE(finished == (!j.error && !w.error));
    *length = dn_written(&w);
    dn_fault fault = {j.error ? j.error : w.error, j.offset};
    return fault;
}

static void round_trip_message(const uint8_t *data, size_t size)
{
    uint8_t *message = copy_exact(data, size);
    text json = {NULL, 0, 0, SIZE_MAX};
    dn_fault fault = to_json(message, size, &json);
    if (!fault.kind && !dn_check(message, size, false).kind) {
        dn_writer w;
        size_t length;
        size_t room = 3 * size; /* a large integer in the form of a float is shorter, and not canonical; a binary32 becomes a binary64 */
        uint8_t *canonical = (uint8_t *)malloc(room);
        uint8_t *back = (uint8_t *)malloc(room);
        REQUIRE(canonical != NULL && back != NULL);
        dn_writer_init(&w, canonical, room);
        rewrite(&w, message, size);
        REQUIRE(!w.error);
        REQUIRE(from_json(json.at, json.size, 7, back, room, &length).kind == DN_OK);
        REQUIRE(equal_except_float_width(canonical, dn_written(&w), back, length));
        free(canonical);
        free(back);
        /* A receiver that accepts one byte less fails; the message itself has no error. */
        text less = {NULL, 0, 0, json.size - 1};
        dn_reader r;
        dn_reader_init(&r, message, size);
        REQUIRE(!dn_json_write(&r, append, &less) && r.error == DN_OK && memcmp(less.at ? less.at : "", json.at, less.size) == 0);
        free(less.at);
    }
    free(json.at);
    free(message);
}

static void round_trip_json(const char *json, size_t size)
{
    size_t room = 2 * size + 16;
    size_t length, other;
    uint8_t *message = (uint8_t *)malloc(room);
    uint8_t *pieces = (uint8_t *)malloc(room);
    REQUIRE(message != NULL && pieces != NULL);
    dn_fault fault = from_json(json, size, SIZE_MAX / 2, message, room, &length);
    for (size_t piece = 1; piece < 8; piece += 2) {
        REQUIRE(same_fault(fault, from_json(json, size, piece, pieces, room, &other)));
        REQUIRE(fault.kind || (other == length && memcmp(message, pieces, length) == 0));
    }
    if (!fault.kind) {
        /* The message is canonical; only duplicate keys of the JSON text are errors. */
        dn_fault lenient = dn_check(message, length, false);
        REQUIRE(same_fault(dn_check(message, length, true), lenient));
        REQUIRE(lenient.kind == DN_OK || lenient.kind == DN_MALFORMED);
        text again = {NULL, 0, 0, SIZE_MAX};
        REQUIRE(to_json(message, length, &again).kind == DN_OK);
        REQUIRE(from_json(again.at, again.size, 5, pieces, room, &other).kind == DN_OK);
        REQUIRE(equal_except_float_width(message, length, pieces, other));
        free(again.at);
        /* a buffer that is one byte too small */
        REQUIRE(from_json(json, size, 3, pieces, length - 1, &other).kind == DN_TRUNCATED);
    }
    free(message);
    free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0x10000) return 0;
    round_trip_message(data, size);
    round_trip_json((const char *)data, size);
    return 0;
}
