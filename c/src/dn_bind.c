/* Fills structs by tables. Messages usually have the table's order, so the search for a key begins behind the row of the last one. */
#include "dn_bind.h"
#include "dn_internal.h"

#define LONGEST 30 /* of a key in a table, in bytes */

bool dn__enter(dn_reader *r, uint8_t head)
{
    if (dn__value_due(r) && r->at != r->end && r->depth != DN_NESTING) {
        uint8_t n = (uint8_t)(*r->at - head);
        if (n <= DN__INLINE_MOST) {
            r->levels[r->depth++] = r->left - DN__ITEM;
            r->left = head == DN__HEAD_MAP ? n * (2 * DN__ITEM) | DN__MAP : n * DN__ITEM;
            r->at++;
            return true;
        }
    }
    return dn_expect(r, head == DN__HEAD_MAP ? DN_MAP : DN_ARRAY);
}

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

bool dn_read_struct(dn_reader *r, const dn_struct *table, void *out)
{
    uint8_t *const members = (uint8_t *)out;
    const uint8_t count = DN__FLASH_BYTE(&table->fields_count);
    /* The row of the last key, the rows behind it, and its present bit: in a byte, because on AVR a shift of 32 bits by a number is a
     * loop, and each step on them takes four instructions. */
    const uint8_t *row = NULL;
    uint8_t ahead = 0;
    uint8_t *present = members + DN__FLASH_WORD(&table->present);
    uint8_t bit = 0;
    *(uint32_t *)(void *)present = 0;
    if (!dn__enter(r, DN__HEAD_MAP)) return false;
    size_t left;
    while ((left = r->left) >= DN__ITEM) {
        const uint8_t *const item = r->at;
        const uint8_t *text = item;
        uint8_t header = 0;
        if (item != r->end) header = *text++;
        uint8_t size = (uint8_t)(header - DN__HEAD_TEXT);
        if (size > LONGEST || size > (size_t)(r->end - text)) {
            /* Not as keys are usually written, or not all there. */
            if (!dn_read_key(r)) return false;
            text = (const uint8_t *)dn_chars(r);
            size = r->n <= LONGEST ? (uint8_t)r->n : LONGEST + 1;
            header = (uint8_t)(DN__HEAD_TEXT | size);
        }
        uint8_t tries = count;
        do {
            if (ahead == 0) {
                row = (const uint8_t *)DN__FLASH_POINTER(&table->fields);
                ahead = count;
                present = members + DN__FLASH_WORD(&table->present) + (little_endian() ? 0 : 3);
                bit = 1;
            } else {
                row += DN__FLASH_BYTE(&table->field_size);
                bit = (uint8_t)(bit << 1);
                if (bit == 0) {
                    bit = 1;
                    present += little_endian() ? 1 : -1;
                }
            }
            ahead--;
        } while (!is_key(row, header, text) && --tries);
        if (tries == 0) {
            /* Unknown. Reads the key again, because it may not be UTF-8. */
            r->at = item;
            r->left = left;
            dn_next(r);
            dn_skip(r);
            continue;
        }
        r->at = text + size;
        r->left = left - DN__ITEM;
        if (*present & bit) {
            r->item = item;
            dn__fail(r, DN_MALFORMED);
            return false;
        }
        *present |= bit;
        const dn_member *member = (const dn_member *)(const void *)row;
        dn_store_fn store = (dn_store_fn)DN__FLASH_POINTER(&member->store);
        store(r, members + DN__FLASH_WORD(&member->offset), member);
    }
    if (r->error) return false;
    r->left = r->levels[--r->depth];
    return true;
}

bool dn_bind(dn_reader *r, const void *message, size_t size, const dn_struct *table, void *out)
{
    dn_reader_init(r, message, size);
    if (dn_read_struct(r, table, out) && r->at == r->end) return true;
    return dn_done(r);
}
