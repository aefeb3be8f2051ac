/* How the measured code calls mpack. Text stays in the message, as with Dunnage. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "measure.h"
#include "mpack.h"

/* ---- Encode ---- */
#define WRITER(buffer, size) \
    mpack_writer_t w; \
    mpack_writer_init(&w, (char *)(buffer), size)
#define WRITTEN() finish(&w)
#define WRITE_MAP(entries) mpack_start_map(&w, entries)
#define WRITE_ARRAY(elements) mpack_start_array(&w, elements)
#define WRITE_KEY(literal) mpack_write_str(&w, literal, sizeof(literal) - 1)
#define WRITE_TEXT(text) mpack_write_cstr(&w, text)
#define WRITE_U32(value) mpack_write_u32(&w, value)
#define WRITE_I32(value) mpack_write_i32(&w, value)
#define WRITE_U64(value) mpack_write_u64(&w, value)
#define WRITE_I64(value) mpack_write_i64(&w, value)
#define WRITE_FLOAT(value) mpack_write_float(&w, value)
#define WRITE_DOUBLE(value) mpack_write_double(&w, value)
#define WRITE_BOOL(value) mpack_write_bool(&w, value)
#define WRITE_NULL() mpack_write_nil(&w)
#define END_MAP() mpack_finish_map(&w)
#define END_ARRAY() mpack_finish_array(&w)

static inline size_t finish(mpack_writer_t *w) {
    size_t size = mpack_writer_buffer_used(w);
    return mpack_writer_destroy(w) == mpack_ok ? size : 0;
}

/* ---- Decode: every item of the message ---- */
#ifdef WALK
static const char *characters(mpack_reader_t *r, uint32_t size) {
    const char *text = mpack_read_bytes_inplace(r, size);
    mpack_done_str(r);
    return text;
}

static void walk_item(mpack_reader_t *r) {
    mpack_tag_t tag = mpack_read_tag(r);
    if (mpack_reader_error(r) != mpack_ok) return;
    switch (mpack_tag_type(&tag)) {
    case mpack_type_map: {
        uint32_t entries = mpack_tag_map_count(&tag);
        fold_map(entries);
        for (uint32_t i = 0; i < entries && mpack_reader_error(r) == mpack_ok; i++) {
            mpack_tag_t key = mpack_read_tag(r);
            if (mpack_tag_type(&key) != mpack_type_str) {
                mpack_reader_flag_error(r, mpack_error_type);
                return;
            }
            uint32_t size = mpack_tag_str_length(&key);
            fold_key(characters(r, size), size);
            walk_item(r);
        }
        mpack_done_map(r);
        break;
    }
    case mpack_type_array: {
        uint32_t elements = mpack_tag_array_count(&tag);
        fold_array(elements);
        for (uint32_t i = 0; i < elements && mpack_reader_error(r) == mpack_ok; i++) walk_item(r);
        mpack_done_array(r);
        break;
    }
    case mpack_type_str: {
        uint32_t size = mpack_tag_str_length(&tag);
        fold_text(characters(r, size), size);
        break;
    }
    case mpack_type_bool: fold_bool(mpack_tag_bool_value(&tag)); break;
    case mpack_type_nil: fold_null(); break;
    case mpack_type_float: fold_float(mpack_tag_float_value(&tag)); break;
#ifdef WIDE
    case mpack_type_uint: fold_u64(mpack_tag_uint_value(&tag)); break;
    case mpack_type_int: fold_i64(mpack_tag_int_value(&tag)); break;
    case mpack_type_double: fold_double(mpack_tag_double_value(&tag)); break;
#else
    case mpack_type_uint: fold_u32((uint32_t)mpack_tag_uint_value(&tag)); break;
    case mpack_type_int: fold_i32((int32_t)mpack_tag_int_value(&tag)); break;
#endif
    default: mpack_reader_flag_error(r, mpack_error_type);
    }
}

static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    mpack_reader_t r;
    mpack_reader_init_data(&r, (const char *)message, size);
    walk_item(&r);
    bool whole = mpack_reader_remaining(&r, NULL) == 0;
    return mpack_reader_destroy(&r) == mpack_ok && whole;
}
#endif

#endif
