/* Fills a struct from a map in one pass, driven by a constant table that says which key goes where.
 *
 *     typedef struct { uint32_t present; char sensor[8]; uint32_t time; float data[2]; uint16_t data_count; } sample;
 *
 *     static const dn_field sample_fields[] DN_FLASH = {
 *         DN_FIELD(sample, sensor, "sensor", chars),
 *         DN_FIELD(sample, time, "time", u32),
 *         DN_FIELD_ARRAY(sample, data, data_count, "data", float),
 *     };
 *     static const dn_struct sample_table DN_FLASH = DN_STRUCT(sample, present, sample_fields);
 *
 *     dn_reader r;
 *     sample s;
 *     if (dn_bind(&r, message, size, &sample_table, &s) && s.present & DN_BIT(1)) use(s.time);
 *
 * On AVR the tables, and the keys in them, stay in flash.
 */
#ifndef DN_BIND_H
#define DN_BIND_H

#include "dn_pson.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a key in a row, its NUL among it. A longer key does not compile: define this before you include the header, up to 31. It may
 * differ from file to file, and the library need not know. */
#ifndef DN_KEY_SIZE
#define DN_KEY_SIZE 16
#elif DN_KEY_SIZE > 31
#error "DN_KEY_SIZE is 31 at most"
#endif

struct dn_member;
struct dn_struct;

/* Reads the next item, and no other, into the member at `to`. `member` is what the table says of it (on AVR in flash). One function a
 * type, so that only the types that your tables name are linked; write your own for others. Errors go to the reader. */
typedef void (*dn_store_fn)(dn_reader *r, void *to, const struct dn_member *member);

/* Where a value goes. */
typedef struct dn_member {
    dn_store_fn store;
    uint16_t offset; /* in its struct, in bytes */
    uint16_t size; /* in bytes; of an array, of one element */
    uint16_t most; /* of an array: elements that fit */
    uint16_t count; /* of an array: offset of the uint16_t that tells how many there were */
    dn_store_fn element; /* of an array: stores one */
    const struct dn_struct *nested;
} dn_member;

/* A row of a table. Written by the macros below. */
typedef struct dn_field {
    dn_member member;
    uint8_t header; /* of the key: 0x80 | its length; beside the key, so that both are compared in one go */
    char key[DN_KEY_SIZE];
} dn_field;

/* A struct: its rows, 1 to 32, and where its uint32_t is whose bit i says that the field of row i was there. */
typedef struct dn_struct {
    const void *fields; /* dn_field[]: of this size, whatever DN_KEY_SIZE is elsewhere */
    uint8_t field_size;
    uint8_t fields_count;
    uint16_t present; /* its offset, in bytes */
} dn_struct;

/* Text or bytes inside the message, which has to stay where it is. */
typedef struct dn_view {
    const uint8_t *data;
    size_t size;
} dn_view;

/* Fills `out`, a struct that `table` describes, from the whole of `message`, which has to be a map. Sets the struct's present bits and
 * leaves the members of absent fields as they are. Keys that the table does not have are skipped. The reader `r` needs no preparation;
 * false when it has an error: the kinds of dn_next; DN_WRONG_TYPE and DN_RANGE of the members; DN_MALFORMED also for a key of the
 * table that stands twice. Members may then have been written. */
bool dn_bind(dn_reader *r, const void *message, size_t size, const dn_struct *table, void *out);

/* The same for the next item of a message that is being read. A struct within a struct is read by a call of its own: as deep as the
 * tables are, whatever the message holds. */
bool dn_read_struct(dn_reader *r, const dn_struct *table, void *out);

/* member->size, for store functions of your own. */
static inline uint16_t dn_member_size(const dn_member *member)
{
#if defined(__AVR__)
    return pgm_read_word(&member->size);
#else
    return member->size;
#endif
}

/* The store functions. Where the comment has no other type, the member is the C type of that name. */
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
void dn_store_chars(dn_reader *r, void *to, const dn_member *member); /* char[N], ended by a NUL; DN_RANGE as in dn_copy_text */
void dn_store_text(dn_reader *r, void *to, const dn_member *member); /* dn_view */
void dn_store_bytes(dn_reader *r, void *to, const dn_member *member); /* dn_view */
void dn_store_struct(dn_reader *r, void *to, const dn_member *member); /* a struct with a table of its own */
void dn_store_array(dn_reader *r, void *to, const dn_member *member); /* T[N] and its uint16_t; more than N elements are DN_RANGE */

/* -- What the macros below are made of -- */

/* 0x80 | the key's length; does not compile when the key is longer than a row has room for, or than 30 bytes. */
#define DN__KEY_HEADER(key) \
    (uint8_t)(0x80 | ((sizeof("" key) - 1) * sizeof(char[sizeof("" key) <= DN_KEY_SIZE && sizeof("" key) <= 31 ? 1 : -1])))

/* The size of `place`, which has to be a `type`: another size does not compile, another type of that size gives a warning (in C++, it does
 * not compile). */
#define DN__SIZE_AS(place, type) \
    (sizeof(place) * sizeof(char[sizeof(place) == sizeof(type) ? 1 : -1]) + 0 * sizeof(1 ? &(place) : (type *)0))

/* The size of a member that dn_store_<how> fills. */
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
#define DN__SIZE_chars(place) (sizeof(place) + 0 * DN__SIZE_AS((place)[0], char))
#define DN__SIZE_text(place) DN__SIZE_AS(place, dn_view)
#define DN__SIZE_bytes(place) DN__SIZE_AS(place, dn_view)

#define DN__MEMBER(type, member) ((type *)0)->member
#define DN__OFFSET(type, member) (uint16_t)offsetof(type, member)
/* The offset of a member that counts. */
#define DN__OFFSET_u16(type, member) (uint16_t)(offsetof(type, member) + 0 * DN__SIZE_AS(DN__MEMBER(type, member), uint16_t))
/* How many elements an array has. */
#define DN__MOST(type, member) (uint16_t)(sizeof(DN__MEMBER(type, member)) / sizeof(DN__MEMBER(type, member)[0]))

/* -- The rows -- */

/* The field `key`, stored in `type.member` by dn_store_<how>: DN_FIELD(sample, time, "time", u32). `how` is u8 ... i64, float, double,
 * bool, chars, text or bytes. */
#define DN_FIELD(type, member, key, how) \
    {{dn_store_##how, DN__OFFSET(type, member), (uint16_t)DN__SIZE_##how(DN__MEMBER(type, member)), 0, 0, 0, 0}, DN__KEY_HEADER(key), key}

/* The same, stored by a function of your own, a dn_store_fn. */
#define DN_FIELD_BY(type, member, key, function) \
    {{function, DN__OFFSET(type, member), (uint16_t)sizeof(DN__MEMBER(type, member)), 0, 0, 0, 0}, DN__KEY_HEADER(key), key}

/* A map, stored in the struct `type.member` that `table` (a dn_struct) describes. */
#define DN_FIELD_STRUCT(type, member, key, table) \
    {{dn_store_struct, DN__OFFSET(type, member), (uint16_t)sizeof(DN__MEMBER(type, member)), 0, 0, 0, &(table)}, DN__KEY_HEADER(key), key}

/* An array, stored in `type.member`, a T[N]; the number of elements in `type.count`, a uint16_t. `how` as in DN_FIELD. */
#define DN_FIELD_ARRAY(type, member, count, key, how) \
    {{dn_store_array, DN__OFFSET(type, member), (uint16_t)DN__SIZE_##how(DN__MEMBER(type, member)[0]), \
     DN__MOST(type, member), DN__OFFSET_u16(type, count), dn_store_##how, 0}, DN__KEY_HEADER(key), key}

/* An array of maps. */
#define DN_FIELD_STRUCTS(type, member, count, key, table) \
    {{dn_store_array, DN__OFFSET(type, member), (uint16_t)sizeof(DN__MEMBER(type, member)[0]), \
     DN__MOST(type, member), DN__OFFSET_u16(type, count), dn_store_struct, &(table)}, DN__KEY_HEADER(key), key}

/* How many rows there are: more than 32 do not compile. */
#define DN__ROWS(fields) \
    (uint8_t)(sizeof(fields) / sizeof((fields)[0]) * sizeof(char[sizeof(fields) / sizeof((fields)[0]) <= 32 ? 1 : -1]))

/* The struct `type`, of less than 65,535 bytes, whose uint32_t `type.present` tells which of the rows in the array `fields` were there. */
#define DN_STRUCT(type, present, fields) \
    {fields, (uint8_t)sizeof((fields)[0]), DN__ROWS(fields), \
     (uint16_t)(offsetof(type, present) * sizeof(char[sizeof(type) < 0xffff ? 1 : -1]) \
                + 0 * DN__SIZE_AS(DN__MEMBER(type, present), uint32_t))}

/* The present bit of row `row`. */
#define DN_BIT(row) ((uint32_t)1 << (row))

#ifdef __cplusplus
}
#endif
#endif
