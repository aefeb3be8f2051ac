/* What the library's files share, and users do not call. */
#ifndef DN_INTERNAL_H
#define DN_INTERNAL_H

#include <string.h>

#include "dn_pson.h"

/* A function that is better called than copied into its callers, because it is seldom needed. */
#if defined(__GNUC__)
#define DN__APART __attribute__((noinline))
#else
#define DN__APART
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Wire types, in the upper three bits of a header. */
enum {
    DN__HEAD_UINT = 0x00,
    DN__HEAD_NEGATIVE = 0x20,
    DN__HEAD_FLOAT = 0x40,
    DN__HEAD_DISCRETE = 0x60,
    DN__HEAD_TEXT = 0x80,
    DN__HEAD_BYTES = 0xa0,
    DN__HEAD_MAP = 0xc0,
    DN__HEAD_ARRAY = 0xe0
};

/* ---- Writer ------------------------------------------------------------------------------------------------------------------ */

/* Bytes of the buffer that are free. Integers are subtracted, because both pointers may be NULL. */
static inline size_t dn__left(const dn_writer *w) { return (size_t)((uintptr_t)w->end - (uintptr_t)w->at); }

/* Bytes that the buffer has, whether written or not. */
static inline size_t dn__size(const dn_writer *w) { return (size_t)((uintptr_t)w->end - (uintptr_t)w->start); }

/* True when `n` bytes fit at w->at, if need be after the sink took the others. False: they are counted, and will not be written. */
bool dn__room(dn_writer *w, size_t n);

/* Marks in the type of a block that it is in flash. */
enum { DN__IN_FLASH = 1 };

/* Writes one byte. */
void dn__put(dn_writer *w, uint8_t byte);

/* Writes an item, or a part of one, that was composed elsewhere: all of it or nothing. */
void dn__append(dn_writer *w, const uint8_t *item, size_t n);

/* Writes a header of `type` with N = `n`. */
void dn__head(dn_writer *w, uint32_t n, uint8_t type);

/* Writes a binary32. */
void dn__binary32(dn_writer *w, uint32_t bits);

/* Writes a binary64 in canonical form, from its bits: also where double has 32 bits. */
void dn__write_double_bits(dn_writer *w, uint64_t bits);

/* Opens a container or a text, whose `header` has an N of 0; dn_write_close ends it. Gives what that needs. */
size_t dn__open(dn_writer *w, uint8_t header);

/* ---- Reader ------------------------------------------------------------------------------------------------------------------ */

/* dn_reader.left: bit 0 is set in a map, the bits above count the items that are left there. In a map keys and values count apart, so
 * that a key is due when that count is even, and has become odd when the key is taken. */
#define DN__MAP ((size_t)1)
#define DN__ITEM ((size_t)2)

/* Whether the next item is a key. Not to be asked when nothing is left. */
static inline bool dn__key_due(const dn_reader *r) { return ((uint8_t)r->left & 3) == DN__MAP; }

/* Ends the message with an error at r->item, or at the message's end for DN_TRUNCATED. The first error stays. Makes r->n 0 and r->type
 * DN_STOP, and gives DN_STOP. */
dn_type dn__fail(dn_reader *r, dn_error kind);

/* r->strict, when it is not NULL: is called with the current item's header at r->item and r->at behind its varint, or behind its
 * binary32 or binary64; false when the item is not canonical. Not called for what has neither: a negative zero that is one byte is
 * refused by dn_next itself. */

/* Four bytes, little-endian, at any address. */
static inline uint32_t dn__load32(const uint8_t *from)
{
#if defined(__AVR__)
    uint32_t value; /* four ld; the shifts below become a call */
    memcpy(&value, from, sizeof value);
    return value;
#else
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
#endif
}

/* The upper 16 bits of 64, without a shift, which is a loop on AVR. */
static inline uint16_t dn__upper(const uint64_t *value)
{
#if defined(__AVR__)
    uint16_t upper;
    memcpy(&upper, (const uint8_t *)value + 6, sizeof upper);
    return upper;
#else
    return (uint16_t)(*value >> 48);
#endif
}

/* Adds to them. */
static inline void dn__add_upper(uint64_t *value, uint16_t n)
{
#if defined(__AVR__)
    n = (uint16_t)(n + dn__upper(value));
    memcpy((uint8_t *)value + 6, &n, sizeof n);
#else
    *value += (uint64_t)n << 48;
#endif
}

/* On AVR only Y and Z address the members of a struct in one instruction, and Y has to be saved. Asks for a pointer in Z, or in X. */
#if defined(__AVR__)
#define DN__IN_Z(pointer) __asm__("" : "+z"(pointer))
#define DN__IN_X(pointer) __asm__("" : "+x"(pointer))
#define DN__IN_BYTE(byte) __asm__("" : "+r"(byte))
#else
#define DN__IN_Z(pointer) (void)(pointer)
#define DN__IN_X(pointer) (void)(pointer)
#define DN__IN_BYTE(byte) (void)(byte)
#endif

/* ---- Binding ----------------------------------------------------------------------------------------------------------------- */

/* Constants that on AVR lie in flash, and elsewhere in memory like all others. */
#if defined(__AVR__)
#define DN__FLASH_BYTE(at) pgm_read_byte(at)
#define DN__FLASH_WORD(at) pgm_read_word(at)
#define DN__FLASH_POINTER(at) ((uintptr_t)pgm_read_word(at)) /* of functions, too: no void * */
#else
#define DN__FLASH_BYTE(at) (*(at))
#define DN__FLASH_WORD(at) (*(at))
#define DN__FLASH_POINTER(at) (*(at))
#endif

/* The byte at `*at` in flash, which then stands behind it. */
static inline uint8_t dn__take_flash(const uint8_t **at)
{
#if defined(__AVR__) && !defined(__AVR_HAVE_LPMX__)
    return pgm_read_byte((*at)++);
#elif defined(__AVR__)
    uint8_t byte; /* the compiler does not know that lpm can increment */
    __asm__("lpm %0, Z+" : "=r"(byte), "+z"(*at));
    return byte;
#else
    return *(*at)++;
#endif
}

/* A function that is better copied into its callers, though that is not the smallest way. */
#if defined(__GNUC__)
#define DN__INLINE static inline __attribute__((always_inline))
#else
#define DN__INLINE static inline
#endif

#define DN__INLINE_MOST 30 /* the largest N that stands in the header */

#ifdef __cplusplus
}
#endif
#endif
