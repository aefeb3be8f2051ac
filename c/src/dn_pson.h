/* PSON wire v2 for microcontrollers: a writer and a zero-copy reader.
 *
 * C99, or C++98 and later; freestanding (stdbool, stddef, stdint, string.h's memcpy family), no heap, no static RAM, no recursion, no global state.
 * The wire format is that of spec/pson.md. Only the functions that you call are linked.
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
 * Errors stick: after the first error, nothing more is written or read, read functions return 0, and one check at the end is enough.
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
/* Places a constant in flash. Needed only on AVR, which otherwise copies constants to RAM. */
#define DN_FLASH PROGMEM
#else
#define DN_FLASH
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The size limit of a message in bytes: 1 MiB, or 32,767 where size_t has 16 bits. */
#define DN_MESSAGE_MAX ((size_t)(sizeof(size_t) > 2 ? 0x100000 : 0x7fff))

/* ---- Errors ------------------------------------------------------------------------------------------------------------------ */

/* The kind of an error, as spec/pson.md defines it. */
typedef uint8_t dn_error;
enum {
    DN_OK,
    DN_TRUNCATED, /* the message is cut off, or the writer's buffer or sink has no room for it */
    DN_MALFORMED, /* the bytes are not PSON */
    DN_WRONG_TYPE, /* an item has another type than the one requested */
    DN_RANGE, /* a value does not fit the requested type or the memory for it, or not exactly */
    DN_LIMIT /* more levels than DN_NESTING, or more bytes than DN_MESSAGE_MAX */
};

/* Text that is in flash on AVR. In C++, Serial.print(dn_error_text(r.error)) recognizes it by this type; in C, print it with
 * "%S" of printf_P. */
#if defined(__AVR__) && defined(__cplusplus)
typedef const class __FlashStringHelper *dn_flash_text;
#else
typedef const char *dn_flash_text;
#endif

/* Returns the name of an error kind in spec/pson.md, such as "truncated"; "ok" for DN_OK, "unknown" for any other value. It is
 * in a file of its own, so that it costs no flash when unused. */
dn_flash_text dn_error_name(dn_error kind);

/* Returns a sentence that describes an error kind to people. */
dn_flash_text dn_error_text(dn_error kind);

/* ---- Writer ------------------------------------------------------------------------------------------------------------------ */

/* Writes a message into the caller's buffer. You may read `error` at any time; the other members are private to the library.
 *
 * The write functions return nothing. On failure they set `error`, from then on write nothing, and continue to count bytes:
 * DN_TRUNCATED when the buffer is full or the sink fails, DN_LIMIT when the message would be larger than DN_MESSAGE_MAX. */
typedef struct dn_writer {
    uint8_t *at;
    uint8_t *end;
    uint8_t *start;
    size_t past; /* bytes of the message that are counted but not in the buffer; after an error modulo 2^N for a size_t of N bits */
    /* Set by a sink: makes room for `size` bytes, or writes `data`, which does not fit. NULL for a plain buffer. */
    bool (*spill)(struct dn_writer *w, const void *data, size_t size, uint8_t type);
    dn_error error;
} dn_writer;

/* Starts a message in `buffer` of `size` bytes; bytes beyond DN_MESSAGE_MAX are not used. With NULL and 0, the writer only
 * counts bytes. */
void dn_writer_init(dn_writer *w, void *buffer, size_t size);

/* Returns the bytes of the message so far, including those that did not fit: after DN_TRUNCATED, the size that the buffer must
 * have. */
size_t dn_written(const dn_writer *w);

/* Returns the offset of `error` in bytes: DN_MESSAGE_MAX for DN_LIMIT, else the bytes in the buffer or, with a sink, the bytes
 * that it accepted. Only valid after an error. */
size_t dn_write_error_offset(const dn_writer *w);

/* Begins a map. `entries` keys must follow, each before its value. The writer does not count them; dn_check detects a wrong
 * number. */
void dn_write_map(dn_writer *w, uint32_t entries);

/* Begins an array. `elements` values must follow, which the writer does not count either. */
void dn_write_array(dn_writer *w, uint32_t elements);

/* Begin a map or an array whose number of entries is known only at its end. Return the argument `opened` of the matching
 * dn_write_close. With a sink, the container must fit the chunk, because its header is written last. */
size_t dn_write_map_open(dn_writer *w);
size_t dn_write_array_open(dn_writer *w);

/* Ends the container that `opened` identifies. `count` is the number of entries or elements that were written; above 30, the
 * header grows by 1 to 5 bytes. Sets DN_WRONG_TYPE when that container is not open. */
void dn_write_close(dn_writer *w, size_t opened, uint32_t count);

/* Writes the key `literal`, a string literal. The compiler computes its header; on AVR its text stays in flash. */
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

/* Called by DN_WRITE_KEY. `text` (on AVR in flash) has 0 to 30 bytes, and `header` is 0x80 | its length. */
void dn_write_short_key(dn_writer *w, const char *text, uint8_t header);

/* Writes `size` bytes of text, as a key or a value. The text must be UTF-8; the writer does not check this, dn_is_utf8 does. */
void dn_write_text(dn_writer *w, const char *text, size_t size);

/* Writes the text up to its NUL. */
void dn_write_str(dn_writer *w, const char *text);

#if defined(__AVR__)
/* Writes `size` bytes of text from flash. */
void dn_write_text_P(dn_writer *w, const char *text, size_t size);
#endif

/* Writes `size` bytes that are not text. */
void dn_write_bytes(dn_writer *w, const void *bytes, size_t size);

/* Write an integer. Call the 64-bit functions only if you need them: they cost an 8-bit target several hundred bytes of flash. */
void dn_write_uint(dn_writer *w, uint32_t value);
void dn_write_int(dn_writer *w, int32_t value);
void dn_write_u64(dn_writer *w, uint64_t value);
void dn_write_i64(dn_writer *w, int64_t value);

/* Write a number in the first form that holds it exactly: an integer if it is whole, binary32, binary64.
 * dn_write_float((float)x) is the `single` policy of spec/pson.md for every x in the range of binary32. Where double has 32 bits
 * (AVR), both write the same. A receiver gets the binary32 exactly: 31.42f is 31.420000076293945. Where it must be 31.42, write
 * dn_write_double(w, 31.42), or hundredths by dn_write_int. */
void dn_write_float(dn_writer *w, float value);
void dn_write_double(dn_writer *w, double value);

void dn_write_bool(dn_writer *w, bool value);
void dn_write_null(dn_writer *w);

/* ---- Sink: a writer that passes on full buffers ----------------------------------------------------------------------------------- */

/* Receives the next `size` bytes (1 or more) of the message, which are valid only during the call. Returns false on failure,
 * which ends the message with DN_TRUNCATED. */
typedef bool (*dn_sink_fn)(void *context, const uint8_t *bytes, size_t size);

/* A writer whose buffer is a chunk of a longer message. Write through `&sink.writer`. */
typedef struct dn_sink {
    dn_writer writer; /* must be the first member */
    dn_sink_fn take;
    void *context;
    size_t taken; /* bytes that `take` has accepted */
    size_t size; /* of the chunk */
    size_t hold; /* 1 + the offset of the outermost container opened by dn_write_map_open or dn_write_array_open; 0 if there is none */
} dn_sink;

/* Starts a message that goes to `take` in chunks of up to `size` bytes. `chunk` is the buffer; `size` must be 16 or more.
 * `context` is passed to `take`. */
void dn_sink_init(dn_sink *sink, void *chunk, size_t size, dn_sink_fn take, void *context);

/* Passes the rest of the message to `take`; call it at the end. Returns false after any error, which is in `sink->writer.error`;
 * DN_WRONG_TYPE when a container is still open. */
bool dn_sink_finish(dn_sink *sink);

/* ---- Reader ------------------------------------------------------------------------------------------------------------------ */

/* Type of an item. */
typedef uint8_t dn_type;
enum {
    DN_STOP, /* the end of the message, or an error: see `error` */
    DN_END, /* the end of the current map or array */
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

/* Reads a message in place, in the caller's memory. The message must neither change nor move while it is read. You may read
 * `type`, `wide`, `n` and `error` after dn_next; the other members are private to the library. */
typedef struct dn_reader {
    const uint8_t *at; /* the next byte */
    const uint8_t *end;
    const uint8_t *item; /* the header of the current item; after an error, the byte at fault */
    const uint8_t *start;
    uint32_t n; /* N of the current item: its magnitude, bytes, entries or elements; 0 or 1 for a bool */
    uint8_t wide; /* not 0 when N has more than 32 bits, of which `n` has the lower 32; must follow `n`, because dn_next stores a varint across both */
    size_t left; /* items left in the current container, as DN__ITEM in dn_internal.h counts them */
    bool (*strict)(struct dn_reader *r); /* rejects an item that is not canonical; NULL when lenient */
    dn_type type;
    dn_error error;
    uint8_t depth;
    size_t levels[DN_NESTING]; /* `left` of the outer containers */
} dn_reader;

/* Starts to read `message` of `size` bytes, leniently: items need not be canonical. A `size` above DN_MESSAGE_MAX is DN_LIMIT. */
void dn_reader_init(dn_reader *r, const void *message, size_t size);

/* From here on, rejects items that are not canonical as DN_MALFORMED. */
void dn_reader_strict(dn_reader *r);

/* Reads the next item of any type, and returns its type: DN_END at the end of a map or an array, DN_STOP at the end of the
 * message and after an error. A map or an array is entered. Does not detect duplicate keys; dn_check and dn_bind do. Errors:
 * DN_TRUNCATED, DN_MALFORMED, DN_LIMIT.
 *     while (dn_next(&r)) switch (r.type) { ... } */
dn_type dn_next(dn_reader *r);

/* Returns true when the message was read to its end without an error. Sets DN_MALFORMED when bytes follow it, and DN_WRONG_TYPE
 * when items are left to read. Containers that were read to their end may still be open. */
bool dn_done(dn_reader *r);

/* Returns the offset of `error`, in bytes from the start of the message. */
size_t dn_error_offset(const dn_reader *r);

/* -- The value of the current item, after dn_next. On failure each returns 0 and sets an error: DN_WRONG_TYPE when the item is
 * not a number (or a bool), DN_RANGE when its value does not fit exactly. Whole floats can be read as integers, and integers as
 * floats that hold them exactly. */
uint32_t dn_get_uint(dn_reader *r, uint32_t max); /* 0 to max */
int32_t dn_get_int(dn_reader *r, int32_t min, int32_t max);
uint64_t dn_get_u64(dn_reader *r);
int64_t dn_get_i64(dn_reader *r);
float dn_get_float(dn_reader *r);
double dn_get_double(dn_reader *r);
bool dn_get_bool(dn_reader *r);

/* Returns the first of the r->n bytes of the current text or bytes; no NUL follows them. Only valid for DN_KEY, DN_TEXT and
 * DN_BYTES, which is not checked. */
static inline const char *dn_chars(const dn_reader *r) { return (const char *)(r->at - r->n); }

/* Returns the value of the current DN_FLOAT. Only valid for that type, which is not checked; links none of the conversions of
 * dn_get_float. */
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

/* -- Read the next item as a type. Errors: those of dn_next and of the functions above. */
static inline uint32_t dn_read_uint(dn_reader *r, uint32_t max) { dn_next(r); return dn_get_uint(r, max); }
static inline int32_t dn_read_int(dn_reader *r, int32_t min, int32_t max) { dn_next(r); return dn_get_int(r, min, max); }
static inline uint8_t dn_read_u8(dn_reader *r) { return (uint8_t)dn_read_uint(r, 0xff); }
static inline uint16_t dn_read_u16(dn_reader *r) { return (uint16_t)dn_read_uint(r, 0xffff); }
static inline uint32_t dn_read_u32(dn_reader *r) { return dn_read_uint(r, 0xffffffffu); }
static inline int8_t dn_read_i8(dn_reader *r) { return (int8_t)dn_read_int(r, -0x80, 0x7f); }
static inline int16_t dn_read_i16(dn_reader *r) { return (int16_t)dn_read_int(r, -0x7fff - 1, 0x7fff); }
static inline int32_t dn_read_i32(dn_reader *r) { return dn_read_int(r, -0x7fffffff - 1, 0x7fffffff); }
static inline uint64_t dn_read_u64(dn_reader *r) { dn_next(r); return dn_get_u64(r); }
static inline int64_t dn_read_i64(dn_reader *r) { dn_next(r); return dn_get_i64(r); }
static inline float dn_read_float(dn_reader *r) { dn_next(r); return dn_get_float(r); }
static inline double dn_read_double(dn_reader *r) { dn_next(r); return dn_get_double(r); }
static inline bool dn_read_bool(dn_reader *r) { dn_next(r); return dn_get_bool(r); }

/* Reads the next item, which must be of `type`. Returns true if it is; otherwise sets DN_WRONG_TYPE. After dn_read_text and
 * dn_read_bytes, dn_chars returns the r->n bytes. */
bool dn_expect(dn_reader *r, dn_type type);
static inline bool dn_read_null(dn_reader *r) { return dn_expect(r, DN_NULL); }
static inline bool dn_read_text(dn_reader *r) { return dn_expect(r, DN_TEXT); }
static inline bool dn_read_bytes(dn_reader *r) { return dn_expect(r, DN_BYTES); }

/* Enter a map or an array; r->n is the number of its entries or elements. */
static inline bool dn_read_map(dn_reader *r) { return dn_expect(r, DN_MAP); }
static inline bool dn_read_array(dn_reader *r) { return dn_expect(r, DN_ARRAY); }

/* Reads the next key of the current map. Returns false after an error and at the end of the map, which it leaves. Another item
 * is DN_WRONG_TYPE. */
bool dn_read_key(dn_reader *r);

/* Returns true when the current array has another element. Returns false after an error and at the end of the array, which it
 * leaves. */
bool dn_more(dn_reader *r);

/* Copies the current text or key, and a NUL, to `to` of `size` bytes. Returns false on failure, and sets `to` to "": DN_RANGE
 * when the text does not fit or contains a NUL, DN_WRONG_TYPE when the item is not text. */
bool dn_copy_text(dn_reader *r, char *to, size_t size);

/* Whether the current key or text equals `literal`. */
#define DN_KEY_IS(r, literal) \
    ((r)->n == sizeof("" literal) - 1 && dn_chars_are((r), DN_LITERAL("" literal), (uint16_t)(sizeof("" literal) - 1)))
#if defined(__AVR__)
#define DN_LITERAL(literal) PSTR(literal)
#else
#define DN_LITERAL(literal) literal
#endif
/* Called by DN_KEY_IS. Returns whether the first `size` bytes of the current text equal `text` (on AVR in flash). */
bool dn_chars_are(const dn_reader *r, const char *text, uint16_t size);

/* Skips the next item and everything in it, which is checked as dn_next checks it. */
void dn_skip(dn_reader *r);

/* Skips the rest of the current map or array, and leaves it. Does nothing outside of both. */
void dn_leave(dn_reader *r);

/* A position in the current container, to which dn_find returns. */
typedef struct dn_mark {
    const uint8_t *at;
    size_t left;
    uint8_t depth;
} dn_mark;

/* Returns the current position. It is valid until the container is left. */
static inline dn_mark dn_mark_here(const dn_reader *r) { dn_mark m = {r->at, r->left, r->depth}; return m; }

/* Returns to `map`, a mark before a key of a map, and searches from there for the key `text` of `size` bytes. Returns true when
 * the key was found: its value is the next item. Returns false when the map has no such key, which is not an error, and after an
 * error. Keys may be requested in any order:
 *     dn_read_map(&r);
 *     dn_mark map = dn_mark_here(&r);
 *     if (dn_find(&r, &map, "rssi", 4)) rssi = dn_read_i8(&r);
 *     dn_leave(&r); */
bool dn_find(dn_reader *r, const dn_mark *map, const char *text, size_t size);

/* ---- Checks ------------------------------------------------------------------------------------------------------------------ */

/* The first error in a message, and its offset in bytes; DN_OK and 0 without an error. */
typedef struct dn_fault {
    dn_error kind;
    size_t offset;
} dn_fault;

/* Checks a whole message of `size` bytes against spec/pson.md, including duplicate keys (DN_MALFORMED) and integers below -2^63
 * (DN_RANGE). `strict` also rejects items that are not canonical. Keys need no memory, so that the time grows with the square of
 * the number of keys in a map. */
dn_fault dn_check(const void *message, size_t size, bool strict);

/* Returns whether `size` bytes are UTF-8 (RFC 3629). */
bool dn_is_utf8(const void *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
