/* The store functions of numbers of up to 32 bits, bool, text, bytes, structs and arrays. One function a type: a table names those that it
 * needs, and the linker takes no others. */
#include "dn_bind.h"
#include "dn_internal.h"

#include <string.h>

/* The functions below take the usual short items themselves, and leave all others, and all faults, to dn_next in a call at their end:
 * so they have no register to save (on AVR, two cycles to push and two to pop, each). */

#define OTHER 0xff

/* When the header of the next item is one of `values` from `first` on, takes it and gives its distance from `first`. Else takes nothing
 * and gives OTHER. */
DN__INLINE uint8_t take(dn_reader *r, uint8_t first, uint8_t values)
{
    if (!dn__value_due(r) || r->at == r->end) return OTHER;
    uint8_t distance = (uint8_t)(*r->at - first);
    if (distance >= values) return OTHER;
    r->at++;
    r->left -= DN__ITEM;
    return distance;
}

static DN__APART uint32_t other_uint(dn_reader *r, uint32_t max)
{
    return dn_read_uint(r, max);
}

static DN__APART uint32_t next_uint(dn_reader *r, uint32_t max)
{
    uint8_t n = take(r, DN__HEAD_UINT, DN__INLINE_MOST + 1);
    return n != OTHER ? n : other_uint(r, max);
}

void dn_store_u8(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint8_t *)to = (uint8_t)next_uint(r, UINT8_MAX);
}

void dn_store_u16(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint16_t *)to = (uint16_t)next_uint(r, UINT16_MAX);
}

void dn_store_u32(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint32_t *)to = next_uint(r, UINT32_MAX);
}

static DN__APART int32_t next_int(dn_reader *r, int32_t min, int32_t max)
{
    uint8_t n = take(r, DN__HEAD_UINT, DN__INLINE_MOST + 1);
    if (n != OTHER) return n;
    n = take(r, DN__HEAD_NEGATIVE + 1, DN__INLINE_MOST);
    return n != OTHER ? -1 - (int32_t)n : dn_read_int(r, min, max);
}

void dn_store_i8(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int8_t *)to = (int8_t)next_int(r, INT8_MIN, INT8_MAX);
}

void dn_store_i16(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int16_t *)to = (int16_t)next_int(r, INT16_MIN, INT16_MAX);
}

void dn_store_i32(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int32_t *)to = next_int(r, INT32_MIN, INT32_MAX);
}

static DN__APART void other_float(dn_reader *r, float *to)
{
    *to = dn_read_float(r);
}

void dn_store_float(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    const uint8_t *at = r->at;
    if (dn__value_due(r) && (size_t)(r->end - at) > 4 && *at == DN__HEAD_FLOAT && !r->strict) {
        uint32_t bits = dn__load32(at + 1);
        memcpy(to, &bits, sizeof bits);
        r->at = at + 5;
        r->left -= DN__ITEM;
        return;
    }
    other_float(r, (float *)to);
}

static DN__APART void other_bool(dn_reader *r, bool *to)
{
    *to = dn_read_bool(r);
}

void dn_store_bool(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    uint8_t value = take(r, DN__HEAD_DISCRETE, 2);
    if (value == OTHER) other_bool(r, (bool *)to);
    else *(bool *)to = value;
}

static DN__APART void other_chars(dn_reader *r, char *to, uint16_t size)
{
    to[0] = '\0';
    if (dn_read_text(r)) dn_copy_text(r, to, size);
}

void dn_store_chars(dn_reader *r, void *to, const dn_member *member)
{
    uint16_t size = dn_member_size(member);
    const uint8_t *at = r->at;
    if (dn__value_due(r) && at != r->end) {
        uint8_t n = (uint8_t)(*at++ - DN__HEAD_TEXT);
        if (n <= DN__INLINE_MOST && n < size && n <= (size_t)(r->end - at)) {
            uint8_t *copy = (uint8_t *)to;
            for (; n; n--) {
                uint8_t byte = *at++;
                if ((uint8_t)(byte - 1) >= 0x7f) break; /* NUL, or not ASCII */
                *copy++ = byte;
            }
            if (n == 0) {
                *copy = '\0';
                r->at = at;
                r->left -= DN__ITEM;
                return;
            }
        }
    }
    other_chars(r, (char *)to, size);
}

static void store_view(dn_reader *r, dn_view *view, dn_type type)
{
    view->data = NULL;
    view->size = 0;
    if (!dn_expect(r, type)) return;
    view->data = (const uint8_t *)dn_chars(r);
    view->size = (size_t)r->n;
}

void dn_store_text(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    store_view(r, (dn_view *)to, DN_TEXT);
}

void dn_store_bytes(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    store_view(r, (dn_view *)to, DN_BYTES);
}

void dn_store_struct(dn_reader *r, void *to, const dn_member *member)
{
    dn_read_struct(r, (const dn_struct *)DN__FLASH_POINTER(&member->nested), to);
}

void dn_store_array(dn_reader *r, void *to, const dn_member *member)
{
    uint8_t *at = (uint8_t *)to;
    uint16_t *count = (uint16_t *)(void *)(at - DN__FLASH_WORD(&member->offset) + DN__FLASH_WORD(&member->count));
    *count = 0;
    if (!dn__enter(r, DN__HEAD_ARRAY)) return;
    uint16_t most = DN__FLASH_WORD(&member->most);
    size_t all = r->left / DN__ITEM;
    uint16_t n = all < most ? (uint16_t)all : most;
    *count = n;
    dn_store_fn element = (dn_store_fn)DN__FLASH_POINTER(&member->element);
    uint16_t size = dn_member_size(member);
    /* After an error `element` stores zeros: it does not cost the good messages a check. */
    for (; n; n--) {
        element(r, at, member);
        at += size;
    }
    /* One more than fits. Its own faults come first. */
    if (dn_more(r) && dn_next(r)) dn__fail(r, DN_RANGE);
}
