/* Shared by the files of the library; not part of the public API. */
#ifndef DN_INTERNAL_H
#define DN_INTERNAL_H

#include <string.h>

#include "dn_pson.h"

/* The largest size_t. Some C libraries define SIZE_MAX, UINT32_MAX and the like for C++ only from C++11 on, and users include stdint.h before
 * these headers, so the library uses none of the macros of stdint.h. */
#define DN__SIZE_MAX ((size_t)-1)

/* For functions that are rarely needed: calling them is cheaper than copies in their callers. */
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

/* Returns the free bytes of the buffer. Subtracts integers, because both pointers may be NULL. */
static inline size_t dn__left(const dn_writer *w) { return (size_t)((uintptr_t)w->end - (uintptr_t)w->at); }

/* Returns the size of the buffer in bytes. */
static inline size_t dn__size(const dn_writer *w) { return (size_t)((uintptr_t)w->end - (uintptr_t)w->start); }

/* Returns true if `n` bytes fit at w->at, after passing the buffer to the sink if necessary. Otherwise returns false: the bytes
 * are counted, and must not be written. */
bool dn__room(dn_writer *w, size_t n);

/* A flag in the type of a block: its data is in flash. Not of an enumeration, because C++20 deprecates operations on two of them. */
#define DN__IN_FLASH 1

/* Writes one byte. */
void dn__write_byte(dn_writer *w, uint8_t byte);

/* Writes `n` bytes of an item that was composed elsewhere: all of them or none. */
void dn__append(dn_writer *w, const uint8_t *item, size_t n);

/* Writes a header of `type` with N = `n`. */
void dn__write_header(dn_writer *w, uint32_t n, uint8_t type);

/* Writes a binary32. */
void dn__binary32(dn_writer *w, uint32_t bits);

/* Writes the binary64 with these bits in canonical form, also where double has 32 bits. */
void dn__write_double_bits(dn_writer *w, uint64_t bits);

/* Begins a container or a text of unknown size. `header` has an N of 0. Returns the argument `opened` of dn_write_close, which
 * ends it. */
size_t dn__open(dn_writer *w, uint8_t header);

/* ---- Reader ------------------------------------------------------------------------------------------------------------------ */

/* dn_reader.left: bit 0 is set in a map; the bits above count the items that are left. In a map, keys and values count
 * separately, so that a key is next when the count is even, and a value when it is odd. */
#define DN__MAP ((size_t)1)
#define DN__ITEM ((size_t)2)

/* Returns whether the next item is a key. Only valid when items are left. */
static inline bool dn__key_due(const dn_reader *r) { return ((uint8_t)r->left & 3) == DN__MAP; }

/* Ends the message with an error at r->item, or at the message's end for DN_TRUNCATED; an earlier error is kept. Sets r->n to 0
 * and r->type to DN_STOP, and returns DN_STOP. */
dn_type dn__fail(dn_reader *r, dn_error kind);

/* r->strict, if not NULL, is called with r->item at the header of the current item, and r->at after its varint, binary32 or
 * binary64. It returns false when the item is not canonical. It is not called for items that have none of these; dn_next itself
 * rejects a negative zero of one byte. */

/* Returns the 32 bits at `from`, little-endian, at any address. */
static inline uint32_t dn__load32(const uint8_t *from)
{
#if defined(__AVR__)
    uint32_t value; /* four ld instructions; the compiler makes a call of the shifts below */
    memcpy(&value, from, sizeof value);
    return value;
#else
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
#endif
}

/* Returns the upper 16 bits of 64, without a shift, which is a loop on AVR. */
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

/* Adds `n` to the upper 16 bits of 64. */
static inline void dn__add_upper(uint64_t *value, uint16_t n)
{
#if defined(__AVR__)
    n = (uint16_t)(n + dn__upper(value));
    memcpy((uint8_t *)value + 6, &n, sizeof n);
#else
    *value += (uint64_t)n << 48;
#endif
}

/* On AVR only Y and Z address the members of a struct in one instruction, and Y must be saved. These macros ask for a pointer in
 * Z or in X, and for a byte in any register. */
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

/* Read constants, which are in flash on AVR and in ordinary memory elsewhere. */
#if defined(__AVR__)
#define DN__FLASH_BYTE(at) pgm_read_byte(at)
#define DN__FLASH_WORD(at) pgm_read_word(at)
#define DN__FLASH_POINTER(at) ((uintptr_t)pgm_read_word(at)) /* also for pointers to functions, so not a void * */
#else
#define DN__FLASH_BYTE(at) (*(at))
#define DN__FLASH_WORD(at) (*(at))
#define DN__FLASH_POINTER(at) (*(at))
#endif

/* Returns the byte at `*at` in flash, and increments `*at`. */
static inline uint8_t dn__read_flash_byte(const uint8_t **at)
{
#if defined(__AVR__) && !defined(__AVR_HAVE_LPMX__)
    return pgm_read_byte((*at)++);
#elif defined(__AVR__)
    uint8_t byte; /* the compiler does not use the increment of lpm here */
    __asm__("lpm %0, Z+" : "=r"(byte), "+z"(*at));
    return byte;
#else
    return *(*at)++;
#endif
}

/* For functions that are faster as copies in their callers, though larger. */
#if defined(__GNUC__)
#define DN__INLINE static inline __attribute__((always_inline))
#else
#define DN__INLINE static inline
#endif

#define DN__INLINE_MOST 30 /* the largest N that the header itself holds */

#ifdef __cplusplus
}
#endif
#endif
