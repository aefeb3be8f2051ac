/* Fills a struct from a map in one pass, driven by a constant table that says which key goes where.
 *
 *     typedef struct { uint32_t present; char sensor[8]; uint32_t time; float data[2]; uint16_t data_count; } sample;
 *
 *     DN_TABLE(sample_table, sample, present,
 *         DN_FIELD(sensor, "sensor", chars),
 *         DN_FIELD(time, "time", u32),
 *         DN_FIELD_ARRAY(data, data_count, "data", float));
 *
 *     dn_reader r;
 *     sample s;
 *     if (dn_bind(&r, message, size, &sample_table, &s) && s.present & DN_BIT(1)) use(s.time);
 *
 * On AVR, the tables and the keys in them stay in flash.
 */
#ifndef DN_BIND_H
#define DN_BIND_H

#include "dn_pson.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes for a key in a row, including its NUL. A longer key does not compile: define DN_KEY_SIZE before you include this header, up
 * to 31. It may differ between the files of a program, and the library is independent of it. */
#ifndef DN_KEY_SIZE
#define DN_KEY_SIZE 16
#elif DN_KEY_SIZE > 31
#error "DN_KEY_SIZE is 31 at most"
#endif

struct dn_member;
struct dn_struct;

/* Reads the next item, and only that, into the member at `to`. `member` is its description in the table (on AVR in flash). Errors are
 * set in the reader. Each type has a function of its own, so that only those that your tables name are linked; you can write more. */
typedef void (*dn_store_fn)(dn_reader *r, void *to, const struct dn_member *member);

/* The member of a struct that receives a value. */
typedef struct dn_member {
    dn_store_fn store;
    uint16_t offset; /* in its struct, in bytes */
    uint16_t size; /* in bytes; for an array, that of one element */
    uint16_t most; /* arrays: the number of elements that fit */
    uint16_t count; /* arrays: offset of the uint16_t that receives the number of elements */
    dn_store_fn element; /* arrays: stores one element */
    const struct dn_struct *nested;
} dn_member;

/* A row of a table. Written by the macros below. */
typedef struct dn_field {
    dn_member member;
    uint8_t header; /* 0x80 | the key's length; next to the key, so that both are compared in one pass */
    char key[DN_KEY_SIZE];
} dn_field;

/* The table of a struct: its rows, 1 to 32, and the offset of its uint32_t of present bits. Bit i is set when the field of row i was
 * present. */
typedef struct dn_struct {
    const void *fields; /* dn_field[]; a row has field_size bytes, whatever DN_KEY_SIZE is elsewhere */
    uint8_t field_size;
    uint8_t fields_count;
    uint16_t present; /* the offset of the present bits, in bytes */
} dn_struct;

/* Text or bytes inside the message, in `size` bytes. Valid as long as the message stays unchanged at its address. */
typedef struct dn_view {
    const uint8_t *data;
    size_t size;
} dn_view;

/* dn_bind(r, message, size, &table, out) fills `out`, a pointer to the struct of DN_TABLE(table, ...), from the whole `message` of
 * `size` bytes, which must be a map. Sets the present bits of the struct, leaves the members of absent fields unchanged, and skips keys
 * that are not in the table. The reader `r` needs no initialization. Returns false on failure, with the error in `r`; members may have
 * been written by then. Errors: those of dn_next; DN_WRONG_TYPE and DN_RANGE for a value that does not fit its member; DN_MALFORMED also
 * for a duplicate of a key in the table. A pointer to any other type than the table's does not compile. */
#define dn_bind(r, message, size, table, out) (DN__CHECK_OUT(table, out), dn_bind_by((r), (message), (size), (table), (out)))

/* dn_read_struct(r, &table, out) does the same for the next item of a message that is being read. A struct within a struct is read by a
 * nested call: the depth is that of the tables, whatever the message contains. */
#define dn_read_struct(r, table, out) (DN__CHECK_OUT(table, out), dn_read_struct_by((r), (table), (out)))

/* Called by the macros above. Also for a `table` that is only known at run time; nothing then checks that `out` points to its struct. */
bool dn_bind_by(dn_reader *r, const void *message, size_t size, const dn_struct *table, void *out);
bool dn_read_struct_by(dn_reader *r, const dn_struct *table, void *out);

/* Returns member->size, for your own store functions. */
static inline uint16_t dn_member_size(const dn_member *member)
{
#if defined(__AVR__)
    return pgm_read_word(&member->size);
#else
    return member->size;
#endif
}

/* The store functions. Where no comment names another type, the member has the C type that the function is named after. */
void dn_store_u8(dn_reader *r, void *to, const dn_member *member);
void dn_store_u16(dn_reader *r, void *to, const dn_member *member);
void dn_store_u32(dn_reader *r, void *to, const dn_member *member);
void dn_store_u64(dn_reader *r, void *to, const dn_member *member);
void dn_store_i8(dn_reader *r, void *to, const dn_member *member);
void dn_store_i16(dn_reader *r, void *to, const dn_member *member);
void dn_store_i32(dn_reader *r, void *to, const dn_member *member);
void dn_store_i64(dn_reader *r, void *to, const dn_member *member);
void dn_store_float(dn_reader *r, void *to, const dn_member *member);
void dn_store_double(dn_reader *r, void *to, const dn_member *member);
void dn_store_bool(dn_reader *r, void *to, const dn_member *member);
void dn_store_chars(dn_reader *r, void *to, const dn_member *member); /* char[N], terminated by a NUL; DN_RANGE as in dn_copy_text */
void dn_store_text(dn_reader *r, void *to, const dn_member *member); /* dn_view */
void dn_store_bytes(dn_reader *r, void *to, const dn_member *member); /* dn_view */
void dn_store_struct(dn_reader *r, void *to, const dn_member *member); /* a struct with a table of its own */
void dn_store_array(dn_reader *r, void *to, const dn_member *member); /* T[N] and its uint16_t count; more than N elements are DN_RANGE */

/* -- Parts of the macros below -- */

/* 0x80 | the key's length. A key that is longer than the room in a row, or than 30 bytes, does not compile. */
#define DN__KEY_HEADER(key) \
    (uint8_t)(0x80 | ((sizeof("" key) - 1) * sizeof(char[sizeof("" key) <= DN_KEY_SIZE && sizeof("" key) <= 31 ? 1 : -1])))

/* Compares types, because pointers to different types cannot be subtracted: 0 if `pointer` is a `type *`, otherwise it does not compile.
 * Nothing is computed. 16 is an arbitrary address; compilers warn about 0. */
#define DN__SAME(pointer, type) (0 * sizeof((pointer) - (type *)16))
#define DN__CHECK_OUT(table, out) (void)sizeof((out) - (table##__object))

/* The size of `place`, which must be a `type`. */
#define DN__SIZE_AS(place, type) (sizeof(place) + DN__SAME(&(place), type))

#define DN__SIZE_u8(place) DN__SIZE_AS(place, uint8_t)
#define DN__SIZE_u16(place) DN__SIZE_AS(place, uint16_t)
#define DN__SIZE_u32(place) DN__SIZE_AS(place, uint32_t)
#define DN__SIZE_u64(place) DN__SIZE_AS(place, uint64_t)
#define DN__SIZE_i8(place) DN__SIZE_AS(place, int8_t)
#define DN__SIZE_i16(place) DN__SIZE_AS(place, int16_t)
#define DN__SIZE_i32(place) DN__SIZE_AS(place, int32_t)
#define DN__SIZE_i64(place) DN__SIZE_AS(place, int64_t)
#define DN__SIZE_float(place) DN__SIZE_AS(place, float)
#define DN__SIZE_double(place) DN__SIZE_AS(place, double)
#define DN__SIZE_bool(place) DN__SIZE_AS(place, bool)
#define DN__SIZE_chars(place) (sizeof(place) + 0 * sizeof(&(place) - (char (*)[sizeof(place)])16))
#define DN__SIZE_text(place) DN__SIZE_AS(place, dn_view)
#define DN__SIZE_bytes(place) DN__SIZE_AS(place, dn_view)

/* The number of elements of the array `place`. A pointer does not compile. */
#define DN__LENGTH(place) (sizeof(place) / sizeof((place)[0]))
#define DN__LENGTH_AS(place, type) (DN__LENGTH(place) + 0 * sizeof(&(place) - (type (*)[DN__LENGTH(place)])16))
#define DN__LENGTH_u8(place) DN__LENGTH_AS(place, uint8_t)
#define DN__LENGTH_u16(place) DN__LENGTH_AS(place, uint16_t)
#define DN__LENGTH_u32(place) DN__LENGTH_AS(place, uint32_t)
#define DN__LENGTH_u64(place) DN__LENGTH_AS(place, uint64_t)
#define DN__LENGTH_i8(place) DN__LENGTH_AS(place, int8_t)
#define DN__LENGTH_i16(place) DN__LENGTH_AS(place, int16_t)
#define DN__LENGTH_i32(place) DN__LENGTH_AS(place, int32_t)
#define DN__LENGTH_i64(place) DN__LENGTH_AS(place, int64_t)
#define DN__LENGTH_float(place) DN__LENGTH_AS(place, float)
#define DN__LENGTH_double(place) DN__LENGTH_AS(place, double)
#define DN__LENGTH_bool(place) DN__LENGTH_AS(place, bool)
#define DN__LENGTH_text(place) DN__LENGTH_AS(place, dn_view)
#define DN__LENGTH_bytes(place) DN__LENGTH_AS(place, dn_view)
#define DN__LENGTH_chars(place) (DN__LENGTH(place) + 0 * sizeof(&(place) - (char (*)[DN__LENGTH(place)][sizeof((place)[0])])16))

#define DN__MEMBER(type, member) ((type *)0)->member
#define DN__OFFSET(type, member) (uint16_t)offsetof(type, member)
/* The offset of a count, which must be a uint16_t. */
#define DN__OFFSET_u16(type, member) (uint16_t)(offsetof(type, member) + DN__SAME(&DN__MEMBER(type, member), uint16_t))

/* The rows of each kind, for the struct `type`. */
#define DN__ROW_FIELD(type, member, key, function, size_of) \
    {{function, DN__OFFSET(type, member), (uint16_t)size_of(DN__MEMBER(type, member)), 0, 0, 0, 0}, DN__KEY_HEADER(key), key}
#define DN__ROW_BY(type, member, key, function) \
    {{function, DN__OFFSET(type, member), (uint16_t)sizeof(DN__MEMBER(type, member)), 0, 0, 0, 0}, DN__KEY_HEADER(key), key}
#define DN__ROW_STRUCT(type, member, key, table, of) \
    {{dn_store_struct, DN__OFFSET(type, member), (uint16_t)DN__SIZE_AS(DN__MEMBER(type, member), of), 0, 0, 0, &(table)}, \
     DN__KEY_HEADER(key), key}
#define DN__ROW_ARRAY(type, member, count, key, function, size_of, length_of) \
    {{dn_store_array, DN__OFFSET(type, member), (uint16_t)size_of(DN__MEMBER(type, member)[0]), \
      (uint16_t)length_of(DN__MEMBER(type, member)), DN__OFFSET_u16(type, count), function, 0}, DN__KEY_HEADER(key), key}
#define DN__ROW_STRUCTS(type, member, count, key, table, of) \
    {{dn_store_array, DN__OFFSET(type, member), (uint16_t)DN__SIZE_AS(DN__MEMBER(type, member)[0], of), \
      (uint16_t)DN__LENGTH_AS(DN__MEMBER(type, member), of), DN__OFFSET_u16(type, count), dn_store_struct, &(table)}, \
     DN__KEY_HEADER(key), key}

/* Adds the struct's type to a row, which is given in parentheses without it: (DN__ROW_FIELD, time, ...) becomes DN__ROW_FIELD(sample,
 * time, ...). */
#define DN__ROW(type, row) DN__ROW_OPEN(type, DN__ROW_PARTS row)
#define DN__ROW_PARTS(...) __VA_ARGS__
#define DN__ROW_OPEN(...) DN__ROW_CALL(__VA_ARGS__)
#define DN__ROW_CALL(type, kind, ...) kind(type, __VA_ARGS__)
#define DN__ROWS_1(type, row) DN__ROW(type, row)
#define DN__ROWS_2(type, row, ...) DN__ROW(type, row), DN__ROWS_1(type, __VA_ARGS__)
#define DN__ROWS_3(type, row, ...) DN__ROW(type, row), DN__ROWS_2(type, __VA_ARGS__)
#define DN__ROWS_4(type, row, ...) DN__ROW(type, row), DN__ROWS_3(type, __VA_ARGS__)
#define DN__ROWS_5(type, row, ...) DN__ROW(type, row), DN__ROWS_4(type, __VA_ARGS__)
#define DN__ROWS_6(type, row, ...) DN__ROW(type, row), DN__ROWS_5(type, __VA_ARGS__)
#define DN__ROWS_7(type, row, ...) DN__ROW(type, row), DN__ROWS_6(type, __VA_ARGS__)
#define DN__ROWS_8(type, row, ...) DN__ROW(type, row), DN__ROWS_7(type, __VA_ARGS__)
#define DN__ROWS_9(type, row, ...) DN__ROW(type, row), DN__ROWS_8(type, __VA_ARGS__)
#define DN__ROWS_10(type, row, ...) DN__ROW(type, row), DN__ROWS_9(type, __VA_ARGS__)
#define DN__ROWS_11(type, row, ...) DN__ROW(type, row), DN__ROWS_10(type, __VA_ARGS__)
#define DN__ROWS_12(type, row, ...) DN__ROW(type, row), DN__ROWS_11(type, __VA_ARGS__)
#define DN__ROWS_13(type, row, ...) DN__ROW(type, row), DN__ROWS_12(type, __VA_ARGS__)
#define DN__ROWS_14(type, row, ...) DN__ROW(type, row), DN__ROWS_13(type, __VA_ARGS__)
#define DN__ROWS_15(type, row, ...) DN__ROW(type, row), DN__ROWS_14(type, __VA_ARGS__)
#define DN__ROWS_16(type, row, ...) DN__ROW(type, row), DN__ROWS_15(type, __VA_ARGS__)
#define DN__ROWS_17(type, row, ...) DN__ROW(type, row), DN__ROWS_16(type, __VA_ARGS__)
#define DN__ROWS_18(type, row, ...) DN__ROW(type, row), DN__ROWS_17(type, __VA_ARGS__)
#define DN__ROWS_19(type, row, ...) DN__ROW(type, row), DN__ROWS_18(type, __VA_ARGS__)
#define DN__ROWS_20(type, row, ...) DN__ROW(type, row), DN__ROWS_19(type, __VA_ARGS__)
#define DN__ROWS_21(type, row, ...) DN__ROW(type, row), DN__ROWS_20(type, __VA_ARGS__)
#define DN__ROWS_22(type, row, ...) DN__ROW(type, row), DN__ROWS_21(type, __VA_ARGS__)
#define DN__ROWS_23(type, row, ...) DN__ROW(type, row), DN__ROWS_22(type, __VA_ARGS__)
#define DN__ROWS_24(type, row, ...) DN__ROW(type, row), DN__ROWS_23(type, __VA_ARGS__)
#define DN__ROWS_25(type, row, ...) DN__ROW(type, row), DN__ROWS_24(type, __VA_ARGS__)
#define DN__ROWS_26(type, row, ...) DN__ROW(type, row), DN__ROWS_25(type, __VA_ARGS__)
#define DN__ROWS_27(type, row, ...) DN__ROW(type, row), DN__ROWS_26(type, __VA_ARGS__)
#define DN__ROWS_28(type, row, ...) DN__ROW(type, row), DN__ROWS_27(type, __VA_ARGS__)
#define DN__ROWS_29(type, row, ...) DN__ROW(type, row), DN__ROWS_28(type, __VA_ARGS__)
#define DN__ROWS_30(type, row, ...) DN__ROW(type, row), DN__ROWS_29(type, __VA_ARGS__)
#define DN__ROWS_31(type, row, ...) DN__ROW(type, row), DN__ROWS_30(type, __VA_ARGS__)
#define DN__ROWS_32(type, row, ...) DN__ROW(type, row), DN__ROWS_31(type, __VA_ARGS__)
/* DN__ROWS_n for n rows. More than 32 rows do not compile, because there are no more present bits. */
#define DN__ROWS_OF(...) \
    DN__PICK(__VA_ARGS__, DN__ROWS_32, DN__ROWS_31, DN__ROWS_30, DN__ROWS_29, DN__ROWS_28, DN__ROWS_27, DN__ROWS_26, DN__ROWS_25, DN__ROWS_24, DN__ROWS_23, DN__ROWS_22, DN__ROWS_21, DN__ROWS_20, DN__ROWS_19, DN__ROWS_18, DN__ROWS_17, DN__ROWS_16, DN__ROWS_15, DN__ROWS_14, DN__ROWS_13, DN__ROWS_12, DN__ROWS_11, DN__ROWS_10, DN__ROWS_9, DN__ROWS_8, DN__ROWS_7, DN__ROWS_6, DN__ROWS_5, DN__ROWS_4, DN__ROWS_3, DN__ROWS_2, DN__ROWS_1, 0)
#define DN__PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, ...) _33

/* -- A table -- */

/* DN_TABLE(name, type, present, rows...) defines the table `name` of the struct `type`, which must be smaller than 65,535 bytes. It has
 * 1 to 32 rows; bit i of the uint32_t `type.present` tells whether the field of row i was present. Use it at file scope, followed by a
 * semicolon; the table is static. DN_TABLE_SHARED defines a table that is not static; DN_TABLE_DECLARE(name, type) in a header declares it
 * for other files. */
#define DN_TABLE(name, type, present, ...) \
    DN__TABLE_ROWS(name, type, __VA_ARGS__); \
    static const dn_struct name DN_FLASH = DN__TABLE(name, type, present); \
    DN__TABLE_TYPE(name, type)
#define DN_TABLE_SHARED(name, type, present, ...) \
    DN__TABLE_ROWS(name, type, __VA_ARGS__); \
    extern const dn_struct name; \
    const dn_struct name DN_FLASH = DN__TABLE(name, type, present)
#define DN_TABLE_DECLARE(name, type) extern const dn_struct name; DN__TABLE_TYPE(name, type)

#define DN__TABLE_ROWS(name, type, ...) \
    static const dn_field name##__rows[] DN_FLASH = {DN__ROWS_OF(__VA_ARGS__)(type, __VA_ARGS__)}
#define DN__TABLE(name, type, present) \
    {name##__rows, (uint8_t)sizeof(name##__rows[0]), (uint8_t)DN__LENGTH(name##__rows), \
     (uint16_t)(offsetof(type, present) * sizeof(char[sizeof(type) < 0xffff ? 1 : -1]) + DN__SAME(&DN__MEMBER(type, present), uint32_t))}
/* The type that the table is for. The object does not exist; only its type is used. */
#define DN__TABLE_TYPE(name, type) \
    typedef type name##__type; \
    extern type name##__object

/* -- The rows. Each names the member of the struct that it fills -- */

/* Stores the field `key` in `member` by dn_store_<how>: DN_FIELD(time, "time", u32). `how` is u8 ... i64, float, double, bool, chars,
 * text or bytes. */
#define DN_FIELD(member, key, how) (DN__ROW_FIELD, member, key, dn_store_##how, DN__SIZE_##how)

/* The same by a function of your own, a dn_store_fn. */
#define DN_FIELD_BY(member, key, function) (DN__ROW_BY, member, key, function)

/* Stores a map in `member`, the struct of the table `table`. */
#define DN_FIELD_STRUCT(member, key, table) (DN__ROW_STRUCT, member, key, table, table##__type)

/* Stores an array in `member`, a T[N], and the number of its elements in `count`, a uint16_t. `how` as in DN_FIELD. */
#define DN_FIELD_ARRAY(member, count, key, how) \
    (DN__ROW_ARRAY, member, count, key, dn_store_##how, DN__SIZE_##how, DN__LENGTH_##how)

/* Stores an array of maps in `member`, an array of the struct of `table`, and their number in `count`. */
#define DN_FIELD_STRUCTS(member, count, key, table) (DN__ROW_STRUCTS, member, count, key, table, table##__type)

/* The present bit of row `row`, counted from 0. */
#define DN_BIT(row) ((uint32_t)1 << (row))

#ifdef __cplusplus
}
#endif
#endif
