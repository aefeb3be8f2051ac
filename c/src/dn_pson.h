/* PSON wire v2 for microcontrollers: a writer and a zero-copy reader.
 *
 * C99, freestanding (stdbool, stddef, stdint, string.h's memcpy family), no heap, no static RAM, no recursion, no global state.
 * The wire format is that of spec/pson.md. What you do not call is not linked.
 *
 *     uint8_t buffer[64];
 *     dn_writer w;
 *     dn_writer_init(&w, buffer, sizeof buffer);
 *     dn_write_map(&w, 2);
 *     DN_WRITE_KEY(&w, "t");    dn_write_float(&w, 23.5f);
 *     DN_WRITE_KEY(&w, "door"); dn_write_bool(&w, true);
 *     if (!w.error) radio_send(buffer, dn_written(&w));
 *
 *     dn_reader r;
 *     dn_reader_init(&r, message, size);
 *     dn_read_map(&r);
 *     while (dn_read_key(&r)) {
 *         if (DN_KEY_IS(&r, "t")) t = dn_read_float(&r);
 *         else if (DN_KEY_IS(&r, "door")) open = dn_read_bool(&r);
 *         else dn_skip(&r);
 *     }
 *     if (!dn_done(&r)) return error(r.error, dn_error_offset(&r));
 *
 * Errors stick: after the first one nothing is written or read any more, readers give 0, and one check at the end is enough.
 */
#ifndef DN_PSON_H
#define DN_PSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dn_config.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
/* Puts a constant into flash; on other targets constants are there anyway. */
#define DN_FLASH PROGMEM
#else
#define DN_FLASH
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The largest message, in bytes: 1 MiB; where size_t has 16 bits, 32,767. */
#define DN_MESSAGE_MAX ((size_t)(SIZE_MAX > 0xffff ? 0x100000 : 0x7fff))

/* ---- Errors ------------------------------------------------------------------------------------------------------------------ */

/* Kind of an error; the kinds of spec/pson.md. */
typedef uint8_t dn_error;
enum {
    DN_OK,
    DN_TRUNCATED, /* the bytes, or the buffer, end before the message does */
    DN_MALFORMED, /* the bytes are not PSON */
    DN_WRONG_TYPE, /* another type than the one asked for */
    DN_RANGE, /* too large, or not exact, for what was asked for */
    DN_LIMIT /* over DN_NESTING or DN_MESSAGE_MAX */
};

/* Text that on AVR lies in flash and not in RAM: Serial.print(dn_error_text(r.error)) knows that by its type; in C, "%S" of printf_P. */
#if defined(__AVR__) && defined(__cplusplus)
typedef const class __FlashStringHelper *dn_flash_text;
#else
typedef const char *dn_flash_text;
#endif

/* The kind's name in spec/pson.md, such as "truncated"; "ok" for DN_OK. In a file of its own, to cost nothing when unused. */
dn_flash_text dn_error_name(dn_error kind);

/* A sentence about it for people. */
dn_flash_text dn_error_text(dn_error kind);

/* ---- Writer ------------------------------------------------------------------------------------------------------------------ */

/* Writes into a buffer of the caller's. `error` may be read at any time, the rest belongs to the library. */
typedef struct dn_writer {
    uint8_t *at;
    uint8_t *end;
    uint8_t *start;
    size_t past; /* bytes that were counted, but are not in the buffer; after an error modulo SIZE_MAX + 1 */
    /* A sink's: makes room for `size` bytes, or writes `data`, which does not fit. NULL for a plain buffer. */
    bool (*spill)(struct dn_writer *w, const void *data, size_t size, uint8_t type);
    dn_error error;
} dn_writer;

/* Starts a message in `buffer` of `size` bytes. With NULL and 0, only measures. */
void dn_writer_init(dn_writer *w, void *buffer, size_t size);

/* Bytes of the message so far, also of what did not fit: after DN_TRUNCATED, the size that the buffer has to have. */
size_t dn_written(const dn_writer *w);

/* The offset of `error`: for DN_TRUNCATED the buffer's size, or with a sink the bytes that it took. */
size_t dn_write_error_offset(const dn_writer *w);

/* A map, whose `entries` (a key, then a value) have to follow. The writer does not count them: dn_check finds a wrong number. */
void dn_write_map(dn_writer *w, uint32_t entries);

/* An array, whose `elements` have to follow. */
void dn_write_array(dn_writer *w, uint32_t elements);

/* A map or an array whose number of entries is known only at its end. Gives what the matching dn_write_close needs.
 * With a sink, the container has to fit its buffer: it cannot leave before its header is known. */
size_t dn_write_map_open(dn_writer *w);
size_t dn_write_array_open(dn_writer *w);

/* Ends it; `count` is the number of entries or elements that were written. */
void dn_write_close(dn_writer *w, size_t opened, uint32_t count);

/* The key `literal`, a string literal: its header is made by the compiler; on AVR its text stays in flash. */
#if defined(__AVR__)
#define DN_WRITE_KEY(w, literal) \
    (sizeof("" literal) - 1 <= 30 \
        ? dn_write_short_key((w), PSTR("" literal), (uint8_t)(0x80 | (sizeof("" literal) - 1))) \
        : dn_write_text_P((w), PSTR("" literal), sizeof("" literal) - 1))
#else
#define DN_WRITE_KEY(w, literal) \
    (sizeof("" literal) - 1 <= 30 \
        ? dn_write_short_key((w), "" literal, (uint8_t)(0x80 | (sizeof("" literal) - 1))) \
        : dn_write_text((w), "" literal, sizeof("" literal) - 1))
#endif

/* What DN_WRITE_KEY calls: `text` (on AVR in flash) of 0 to 30 bytes, `header` is 0x80 | its length. */
void dn_write_short_key(dn_writer *w, const char *text, uint8_t header);

/* Text of `size` bytes, which has to be UTF-8; a key or a value. dn_is_utf8 tells. */
void dn_write_text(dn_writer *w, const char *text, size_t size);

/* Text that ends at its NUL. */
void dn_write_str(dn_writer *w, const char *text);

#if defined(__AVR__)
/* Text in flash. */
void dn_write_text_P(dn_writer *w, const char *text, size_t size);
#endif

/* Bytes. */
void dn_write_bytes(dn_writer *w, const void *bytes, size_t size);

/* Integers. Link only what you call: the 64-bit ones cost an 8-bit target several hundred bytes of flash. */
void dn_write_uint(dn_writer *w, uint32_t value);
void dn_write_int(dn_writer *w, int32_t value);
void dn_write_u64(dn_writer *w, uint64_t value);
void dn_write_i64(dn_writer *w, int64_t value);

/* Numbers, in the first form that holds them exactly: an integer when they are whole, binary32, binary64.
 * dn_write_float((float)x) is the `single` policy of spec/pson.md for every x that is not beyond binary32.
 * Where double has 32 bits (AVR), both are the same. */
void dn_write_float(dn_writer *w, float value);
void dn_write_double(dn_writer *w, double value);

void dn_write_bool(dn_writer *w, bool value);
void dn_write_null(dn_writer *w);

/* ---- Sink: a writer that hands on full buffers ----------------------------------------------------------------------------------- */

/* Takes `size` bytes (1 or more); false when it cannot, which ends the message with DN_TRUNCATED. */
typedef bool (*dn_sink_fn)(void *context, const uint8_t *bytes, size_t size);

/* A writer whose buffer is a chunk of a longer message. Write through `&sink.writer`. */
typedef struct dn_sink {
    dn_writer writer; /* first */
    dn_sink_fn take;
    void *context;
    size_t taken; /* bytes that `take` took */
    size_t size; /* of the chunk */
    size_t hold; /* 1 + the offset of the outermost container that dn_write_map_open or dn_write_array_open began; 0: there is none */
} dn_sink;

/* `chunk` has `size` bytes, 16 or more. */
void dn_sink_init(dn_sink *sink, void *chunk, size_t size, dn_sink_fn take, void *context);

/* Hands on what is left at the end of the message. False when anything failed: see `sink->writer.error`. */
bool dn_sink_finish(dn_sink *sink);

/* ---- Reader ------------------------------------------------------------------------------------------------------------------ */

/* Type of an item. */
typedef uint8_t dn_type;
enum {
    DN_STOP, /* the message is over, or has an error: see `error` */
    DN_END, /* the current map or array is over */
    DN_KEY, /* text, the key of the value that follows */
    DN_TEXT,
    DN_BYTES,
    DN_UINT, /* 0 to 2^64-1 */
    DN_NEGATIVE, /* -1 to -(2^64-1); -0 is DN_UINT */
    DN_FLOAT, /* binary32 */
    DN_DOUBLE, /* binary64 */
    DN_BOOL,
    DN_NULL,
    DN_MAP,
    DN_ARRAY
};

/* Reads a message in the caller's memory, and points into it: nothing is copied, nothing may change while it is read.
 * `type`, `wide`, `n` and `error` may be read after dn_next, the rest belongs to the library. */
typedef struct dn_reader {
    const uint8_t *at; /* the next byte */
    const uint8_t *end;
    const uint8_t *item; /* the header of the current item; after an error, the byte at fault */
    const uint8_t *start;
    uint32_t n; /* the current item's N: magnitude, bytes, entries, elements; a bool's 0 or 1 */
    uint8_t wide; /* not 0 when N has more than 32 bits, of which `n` has the lower ones; stands behind `n` for the varint's sake */
    size_t left; /* items left in the current container; see dn_internal.h */
    bool (*strict)(struct dn_reader *r); /* refuses what is not canonical; NULL when lenient */
    dn_type type;
    dn_error error;
    uint8_t depth;
    size_t levels[DN_NESTING]; /* `left` of the outer containers */
} dn_reader;

/* Starts to read `message` of `size` bytes, leniently. */
void dn_reader_init(dn_reader *r, const void *message, size_t size);

/* From here on refuses what is not canonical as DN_MALFORMED. */
void dn_reader_strict(dn_reader *r);

/* The next item, whatever it is. A map or an array is entered, its end is an item, too. DN_STOP when the message is over or has an
 * error. Keys that stand twice are not seen: see dn_check and dn_bind. Errors: all kinds but DN_WRONG_TYPE and DN_RANGE.
 *     while (dn_next(&r)) switch (r.type) { ... } */
dn_type dn_next(dn_reader *r);

/* True when the message was read to its end, without an error, and no bytes follow (DN_MALFORMED).
 * A message that was not read to its end is DN_WRONG_TYPE. */
bool dn_done(dn_reader *r);

/* The offset of `error`, in bytes from the start of the message. */
size_t dn_error_offset(const dn_reader *r);

/* -- The current item, after dn_next. Each gives 0 and sets the error when it is not that: DN_WRONG_TYPE; DN_RANGE when it does
 *    not fit exactly. Whole floats are integers, and integers that a float holds exactly are floats. */
uint32_t dn_get_uint(dn_reader *r, uint32_t max); /* 0 to max */
int32_t dn_get_int(dn_reader *r, int32_t min, int32_t max);
uint64_t dn_get_u64(dn_reader *r);
int64_t dn_get_i64(dn_reader *r);
float dn_get_float(dn_reader *r);
double dn_get_double(dn_reader *r);
bool dn_get_bool(dn_reader *r);

/* Text or bytes: the first of its r->n bytes, without a NUL behind them. Only for DN_KEY, DN_TEXT, DN_BYTES; checks nothing. */
static inline const char *dn_chars(const dn_reader *r) { return (const char *)(r->at - r->n); }

/* The value of a DN_FLOAT, as it is. Only for that; checks nothing, and links none of the conversions of dn_get_float. */
static inline float dn_float(const dn_reader *r)
{
#if defined(__AVR__)
    float value; /* the bytes are in the order of the message */
    memcpy(&value, r->at - 4, sizeof value);
#else
    const uint8_t *at = r->at - 4;
    uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
#endif
    return value;
}

/* -- The next item, as a type. Errors as above. */
static inline uint32_t dn_read_uint(dn_reader *r, uint32_t max) { dn_next(r); return dn_get_uint(r, max); }
static inline int32_t dn_read_int(dn_reader *r, int32_t min, int32_t max) { dn_next(r); return dn_get_int(r, min, max); }
static inline uint8_t dn_read_u8(dn_reader *r) { return (uint8_t)dn_read_uint(r, UINT8_MAX); }
static inline uint16_t dn_read_u16(dn_reader *r) { return (uint16_t)dn_read_uint(r, UINT16_MAX); }
static inline uint32_t dn_read_u32(dn_reader *r) { return dn_read_uint(r, UINT32_MAX); }
static inline int8_t dn_read_i8(dn_reader *r) { return (int8_t)dn_read_int(r, INT8_MIN, INT8_MAX); }
static inline int16_t dn_read_i16(dn_reader *r) { return (int16_t)dn_read_int(r, INT16_MIN, INT16_MAX); }
static inline int32_t dn_read_i32(dn_reader *r) { return dn_read_int(r, INT32_MIN, INT32_MAX); }
static inline uint64_t dn_read_u64(dn_reader *r) { dn_next(r); return dn_get_u64(r); }
static inline int64_t dn_read_i64(dn_reader *r) { dn_next(r); return dn_get_i64(r); }
static inline float dn_read_float(dn_reader *r) { dn_next(r); return dn_get_float(r); }
static inline double dn_read_double(dn_reader *r) { dn_next(r); return dn_get_double(r); }
static inline bool dn_read_bool(dn_reader *r) { dn_next(r); return dn_get_bool(r); }

/* The next item has to be of `type`: true when it is, else DN_WRONG_TYPE. dn_read_text gives its length in r->n, its bytes by dn_chars. */
bool dn_expect(dn_reader *r, dn_type type);
static inline bool dn_read_null(dn_reader *r) { return dn_expect(r, DN_NULL); }
static inline bool dn_read_text(dn_reader *r) { return dn_expect(r, DN_TEXT); }
static inline bool dn_read_bytes(dn_reader *r) { return dn_expect(r, DN_BYTES); }

/* Enters a map or an array; r->n has the number of its entries or elements. */
static inline bool dn_read_map(dn_reader *r) { return dn_expect(r, DN_MAP); }
static inline bool dn_read_array(dn_reader *r) { return dn_expect(r, DN_ARRAY); }

/* The next key of the current map: true when there is one. False at the end of the map, which is left, and after an error. */
bool dn_read_key(dn_reader *r);

/* True when the current array has another element. False at its end, and the array is left; also after an error. */
bool dn_more(dn_reader *r);

/* Copies the current text, and a NUL, to `to` of `size` bytes. DN_RANGE when it does not fit or holds a NUL, DN_WRONG_TYPE when it
 * is no text; `to` is then "". */
bool dn_copy_text(dn_reader *r, char *to, size_t size);

/* Whether the current key, or text, is `literal`. */
#define DN_KEY_IS(r, literal) \
    ((r)->n == sizeof("" literal) - 1 && dn_chars_are((r), DN_LITERAL("" literal), (uint16_t)(sizeof("" literal) - 1)))
#if defined(__AVR__)
#define DN_LITERAL(literal) PSTR(literal)
#else
#define DN_LITERAL(literal) literal
#endif
/* What DN_KEY_IS calls: whether the first `size` characters are those of `text` (on AVR in flash). */
bool dn_chars_are(const dn_reader *r, const char *text, uint16_t size);

/* Skips the next item with all that it holds; it is checked as if it had been read. */
void dn_skip(dn_reader *r);

/* Skips what is left of the current map or array, and leaves it. */
void dn_leave(dn_reader *r);

/* A place in the current container, to come back to. */
typedef struct dn_mark {
    const uint8_t *at;
    size_t left;
    uint8_t depth;
} dn_mark;

/* Where the reader stands. Good as long as the container has not been left. */
static inline dn_mark dn_mark_here(const dn_reader *r) { dn_mark m = {r->at, r->left, r->depth}; return m; }

/* Goes back to `map`, a mark before a key of a map, and looks for the key `text` of `size` bytes from there on. True: the reader stands
 * before its value. False: it is not there, which is no error, or there is an error. Keys may be asked for in any order:
 *     dn_read_map(&r);
 *     dn_mark map = dn_mark_here(&r);
 *     if (dn_find(&r, &map, "rssi", 4)) rssi = dn_read_i8(&r);
 *     dn_leave(&r); */
bool dn_find(dn_reader *r, const dn_mark *map, const char *text, size_t size);

/* ---- Checks ------------------------------------------------------------------------------------------------------------------ */

/* What is wrong with a message. */
typedef struct dn_fault {
    dn_error kind;
    size_t offset;
} dn_fault;

/* Checks a whole message as spec/pson.md says, keys that stand twice and integers below -2^63 among it. Needs no memory for the keys:
 * the time grows with the square of the number of keys in a map. */
dn_fault dn_check(const void *message, size_t size, bool strict);

/* Whether `size` bytes are UTF-8 (RFC 3629). */
bool dn_is_utf8(const void *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
