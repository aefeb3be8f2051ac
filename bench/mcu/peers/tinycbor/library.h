/* How the measured code calls TinyCBOR. Text stays in the message. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "cbor.h"
#include "measure.h"

#include <string.h>

/* ---- Encode ---- */
/* Maximum nesting of maps and arrays in the payloads. */
#define DEPTH 8
#define WRITER(buffer, size) \
    CborEncoder encoders[DEPTH], *e = encoders; \
    CborError error = CborNoError; \
    uint8_t *start = (buffer); \
    cbor_encoder_init(e, start, size, 0)
#define WRITTEN() (error ? 0 : cbor_encoder_get_buffer_size(e, start))
#define WRITE_MAP(entries) (error |= cbor_encoder_create_map(e, e + 1, entries), e++)
#define WRITE_ARRAY(elements) (error |= cbor_encoder_create_array(e, e + 1, elements), e++)
#define WRITE_KEY(literal) (error |= cbor_encode_text_string(e, literal, sizeof(literal) - 1))
#define WRITE_TEXT(text) (error |= cbor_encode_text_stringz(e, text))
#define WRITE_U32(value) (error |= cbor_encode_uint(e, value))
#define WRITE_I32(value) (error |= cbor_encode_int(e, value))
#define WRITE_U64(value) (error |= cbor_encode_uint(e, value))
#define WRITE_I64(value) (error |= cbor_encode_int(e, value))
#define WRITE_FLOAT(value) write_number(float, CborFloatType, value)
#define WRITE_DOUBLE(value) write_number(double, CborDoubleType, value)
/* TinyCBOR reads the number through a pointer to an integer, so without HIDE the compiler could drop the number. */
#define write_number(type, id, value) \
    do { \
        type number = (value); \
        void *at = &number; \
        HIDE(at); \
        error |= cbor_encode_floating_point(e, id, at); \
    } while (0)
#define WRITE_BOOL(value) (error |= cbor_encode_boolean(e, value))
#define WRITE_NULL() (error |= cbor_encode_null(e))
#define END_MAP() (e--, error |= cbor_encoder_close_container(e, e + 1))
#define END_ARRAY() END_MAP()

/* ---- Decode: every item of the message ---- */
#ifdef WALK
static CborError walk_item(CborValue *it, bool key);

/* This version has no call that returns text without a copy, but the text ends where the next item begins. */
static CborError walk_text(CborValue *it, bool key) {
    size_t size;
    CborError error = cbor_value_get_string_length(it, &size);
    if (!error) error = cbor_value_advance(it);
    if (error) return error;
    const char *text = (const char *)cbor_value_get_next_byte(it) - size;
    if (key) fold_key(text, size);
    else fold_text(text, size);
    return CborNoError;
}

static CborError walk_container(CborValue *it, bool map) {
    size_t count;
    CborError error = map ? cbor_value_get_map_length(it, &count) : cbor_value_get_array_length(it, &count);
    if (error) return error;
    if (map) fold_map((uint32_t)count);
    else fold_array((uint32_t)count);
    CborValue inner;
    error = cbor_value_enter_container(it, &inner);
    for (bool key = map; !error && !cbor_value_at_end(&inner); key = map && !key) error = walk_item(&inner, key);
    return error ? error : cbor_value_leave_container(it, &inner);
}

static void walk_integer(const CborValue *it) {
    if (cbor_value_is_unsigned_integer(it)) {
        uint64_t value;
        cbor_value_get_uint64(it, &value);
#ifdef WIDE
        fold_u64(value);
#else
        fold_u32((uint32_t)value);
#endif
    } else {
        int64_t value;
        cbor_value_get_int64(it, &value);
#ifdef WIDE
        fold_i64(value);
#else
        fold_i32((int32_t)value);
#endif
    }
}

static CborError walk_item(CborValue *it, bool key) {
    float single;
    double wide;
    bool truth;
    switch (cbor_value_get_type(it)) {
    case CborMapType: return walk_container(it, true);
    case CborArrayType: return walk_container(it, false);
    case CborTextStringType: return walk_text(it, key);
    case CborIntegerType: walk_integer(it); break;
    case CborFloatType:
        cbor_value_get_float(it, &single);
        fold_float(single);
        break;
    case CborDoubleType:
        cbor_value_get_double(it, &wide);
        fold_double(wide);
        break;
    case CborBooleanType:
        cbor_value_get_boolean(it, &truth);
        fold_bool(truth);
        break;
    case CborNullType: fold_null(); break;
    default: return CborErrorUnknownType;
    }
    return cbor_value_advance_fixed(it);
}

static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    CborParser parser;
    CborValue it;
    if (cbor_parser_init(message, size, 0, &parser, &it)) return false;
    return walk_item(&it, false) == CborNoError && cbor_value_get_next_byte(&it) == message + size;
}
#endif

#endif
