/* Fills structs by tables. Messages usually have the table's order, so the search for a key begins behind the row of the last one. */
#include "dn_bind.h"
#include "dn_internal.h"

/* Whether `text`, whose length `header` has, is the key of the row at `row`. */
static bool is_key(const uint8_t *row, uint8_t header, const uint8_t *text)
{
    const uint8_t *key = row + sizeof(dn_member); /* dn_field.header, and then dn_field.key */
    if (dn__take_flash(&key) != header) return false;
    uint8_t n = header & 0x1f;
    if (n == 0) return true;
    do {
        if (dn__take_flash(&key) != *text++) return false;
    } while (--n);
    return true;
}

/* Byte 0 of a uint32_t has its lowest bits, or its highest. Compilers see that this is a constant. */
static bool little_endian(void)
{
    const uint32_t one = 1;
    return *(const uint8_t *)&one;
}

/* Where the search for the next key goes on. */
typedef struct {
    const uint8_t *row;
    uint8_t ahead; /* rows behind it */
    uint8_t bit; /* its present bit, in *present: a byte, because on AVR 1 << n is a loop, and 32 bits are four instructions a step */
    uint8_t *present;
} place;

/* Goes on to the next row, behind the last one to the first. */
DN__INLINE void step(place *p, const dn_struct *table, uint8_t count, uint8_t *members)
{
    if (p->ahead == 0) {
        p->row = (const uint8_t *)DN__FLASH_POINTER(&table->fields);
        p->ahead = count;
        p->present = members + DN__FLASH_WORD(&table->present) + (little_endian() ? 0 : 3);
        p->bit = 1;
    } else {
        p->row += DN__FLASH_BYTE(&table->field_size);
        p->bit = (uint8_t)(p->bit << 1);
        if (p->bit == 0) {
            p->bit = 1;
            p->present += little_endian() ? 1 : -1;
        }
    }
    p->ahead--;
}

bool dn_read_struct(dn_reader *r, const dn_struct *table, void *out)
{
    uint8_t *const members = (uint8_t *)out;
    const uint8_t count = DN__FLASH_BYTE(&table->fields_count);
    place p = {NULL, 0, 0, NULL};
    *(uint32_t *)(void *)(members + DN__FLASH_WORD(&table->present)) = 0;
    if (!dn_read_map(r)) return false;
    for (;;) {
        if (r->left & DN__ITEM && r->left & DN__MAP) dn_skip(r); /* a value that a store function left unread */
        if (!dn_read_key(r)) return !r->error;
        const uint8_t *text = (const uint8_t *)dn_chars(r);
        uint8_t header = (uint8_t)(DN__HEAD_TEXT | (r->n <= DN__INLINE_MOST ? r->n : DN__INLINE_MOST + 1));
        uint8_t tries = count;
        do step(&p, table, count, members);
        while (!is_key(p.row, header, text) && --tries);
        if (tries == 0) {
            dn_skip(r);
            continue;
        }
        if (*p.present & p.bit) {
            dn__fail(r, DN_MALFORMED);
            return false;
        }
        *p.present |= p.bit;
        const dn_member *member = (const dn_member *)(const void *)p.row;
        dn_store_fn store = (dn_store_fn)DN__FLASH_POINTER(&member->store);
        store(r, members + DN__FLASH_WORD(&member->offset), member);
    }
}

bool dn_bind(dn_reader *r, const void *message, size_t size, const dn_struct *table, void *out)
{
    dn_reader_init(r, message, size);
    if (dn_read_struct(r, table, out) && r->at == r->end) return true;
    return dn_done(r);
}
