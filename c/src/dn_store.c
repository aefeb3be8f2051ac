/* The store functions of numbers of up to 32 bits, bool, text, bytes, structs and arrays. Each type has one function: a table names
 * those that it needs, and the linker adds no others. */
#include "dn_bind.h"
#include "dn_internal.h"

#include <string.h>

void dn_store_u8(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint8_t *)to = dn_read_u8(r);
}

void dn_store_u16(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint16_t *)to = dn_read_u16(r);
}

void dn_store_u32(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint32_t *)to = dn_read_u32(r);
}

void dn_store_i8(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int8_t *)to = dn_read_i8(r);
}

void dn_store_i16(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int16_t *)to = dn_read_i16(r);
}

void dn_store_i32(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int32_t *)to = dn_read_i32(r);
}

void dn_store_float(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(float *)to = dn_read_float(r);
}

void dn_store_bool(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(bool *)to = dn_read_bool(r);
}

void dn_store_chars(dn_reader *r, void *to, const dn_member *member)
{
    *(char *)to = '\0';
    if (dn_read_text(r)) dn_copy_text(r, (char *)to, dn_member_size(member));
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
    dn_read_struct_by(r, (const dn_struct *)DN__FLASH_POINTER(&member->nested), to);
}

void dn_store_array(dn_reader *r, void *to, const dn_member *member)
{
    uint8_t *at = (uint8_t *)to;
    uint16_t *count = (uint16_t *)(void *)(at - DN__FLASH_WORD(&member->offset) + DN__FLASH_WORD(&member->count));
    *count = 0;
    if (!dn_read_array(r)) return;
    uint16_t most = DN__FLASH_WORD(&member->most);
    size_t all = r->left / DN__ITEM;
    uint16_t n = all < most ? (uint16_t)all : most;
    *count = n;
    dn_store_fn element = (dn_store_fn)DN__FLASH_POINTER(&member->element);
    uint16_t size = dn_member_size(member);
    /* After an error, `element` stores zeros, so that valid messages need no check in this loop. */
    for (; n; n--) {
        element(r, at, member);
        at += size;
    }
    /* There is an element more than fits. Its own errors are reported first. */
    if (dn_more(r) && dn_next(r)) dn__fail(r, DN_RANGE);
}
