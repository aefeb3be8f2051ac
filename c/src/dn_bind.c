/* Fills structs by tables. The keys of a message are usually in the table's order, so the search for a key begins after the row
 * of the previous key. */
#include "dn_bind.h"
#include "dn_internal.h"

/* Returns whether `text` is the key of the row at `row`. `header` is 0x80 | its length. */
static bool is_key(const uint8_t *row, uint8_t header, const uint8_t *text)
{
    const uint8_t *key = row + sizeof(dn_member); /* dn_field.header, and then dn_field.key */
    if (dn__read_flash_byte(&key) != header) return false;
    uint8_t n = header & 0x1f;
    if (n == 0) return true;
    do {
        if (dn__read_flash_byte(&key) != *text++) return false;
    } while (--n);
    return true;
}

/* Returns the byte of a uint32_t that contains bit `index`. Compilers evaluate the byte order to a constant. */
static uint8_t *find_present_byte(uint8_t *present, uint8_t index)
{
    const uint32_t one = 1;
    bool little_endian = *(const uint8_t *)&one;
    return present + (little_endian ? index >> 3 : 3 - (index >> 3));
}

/* Advances to the next row, and from the last row to the first. */
DN__INLINE void next_row(const dn_struct *table, const uint8_t *rows, uint8_t count, const uint8_t **row, uint8_t *index)
{
    *row += DN__FLASH_BYTE(&table->field_size);
    if (++*index < count) return;
    *row = rows;
    *index = 0;
}

bool dn_read_struct_by(dn_reader *r, const dn_struct *table, void *out)
{
    uint8_t *const members = (uint8_t *)out;
    const uint8_t *const rows = (const uint8_t *)DN__FLASH_POINTER(&table->fields);
    const uint8_t count = DN__FLASH_BYTE(&table->fields_count);
    uint8_t *const present = members + DN__FLASH_WORD(&table->present);
    const uint8_t *row = rows;
    uint8_t index = 0;
    *(uint32_t *)(void *)present = 0;
    if (!dn_read_map(r)) return false;
    for (;;) {
        if (r->left & DN__ITEM && r->left & DN__MAP) dn_skip(r); /* a value that a store function left unread */
        if (!dn_read_key(r)) return !r->error;
        const uint8_t *text = (const uint8_t *)dn_chars(r);
        uint8_t header = (uint8_t)(DN__HEAD_TEXT | (r->n <= DN__INLINE_MOST ? r->n : DN__INLINE_MOST + 1));
        uint8_t tries = count;
        while (!is_key(row, header, text) && --tries) next_row(table, rows, count, &row, &index);
        if (tries == 0) {
            dn_skip(r);
            continue;
        }
        /* Bits are set in a byte, because 1 << index is a loop on AVR, and takes four times as long for 32 bits. */
        uint8_t bit = (uint8_t)(1 << (index & 7));
        uint8_t *byte = find_present_byte(present, index);
        if (*byte & bit) {
            dn__fail(r, DN_MALFORMED);
            return false;
        }
        *byte |= bit;
        const dn_member *member = (const dn_member *)(const void *)row;
        next_row(table, rows, count, &row, &index);
        dn_store_fn store = (dn_store_fn)DN__FLASH_POINTER(&member->store);
        store(r, members + DN__FLASH_WORD(&member->offset), member);
    }
}

bool dn_bind_by(dn_reader *r, const void *message, size_t size, const dn_struct *table, void *out)
{
    dn_reader_init(r, message, size);
    if (dn_read_struct_by(r, table, out) && r->at == r->end) return true;
    return dn_done(r);
}
