#include <string.h>

#include "dn_pson.h"

/* Returns the N of the header at `*at`, and advances `*at` past it. Only for bytes that dn_next has accepted, in a message
 * that fits memory: an N that is a count fits size_t; the truncated N of a larger integer is not used. */
static size_t read_n(const uint8_t **at)
{
    uint8_t payload = *(*at)++ & 0x1f;
    if (payload != 0x1f) return payload;
    size_t n = 0;
    uint8_t shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        if (shift < sizeof n * 8) n |= (size_t)(byte & 0x7f) << shift;
        shift = (uint8_t)(shift + 7);
    } while (byte & 0x80);
    return n;
}

/* Returns the address after the item at `at` and everything in it, which dn_next has accepted. */
static const uint8_t *skip_item(const uint8_t *at)
{
    size_t items = 1;
    do {
        uint8_t type = *at >> 5;
        uint8_t wide = *at & 1;
        size_t n = read_n(&at);
        items--;
        switch (type) {
        case 2: at += wide ? 8 : 4; break;
        case 4:
        case 5: at += n; break;
        case 6: items += 2 * n; break;
        case 7: items += n; break;
        default: break;
        }
    } while (items);
    return at;
}

/* Returns whether the current key is a duplicate in its map; `first` is the map's first key. */
static bool is_duplicate_key(const dn_reader *r, const uint8_t *first)
{
    const uint8_t *at = first;
    while (at != r->item) {
        size_t n = read_n(&at);
        if (n == r->n && memcmp(at, dn_chars(r), n) == 0) return true;
        at = skip_item(at + n);
    }
    return false;
}

/* Returns whether the integer -N at `header` is below -2^63. Works on the bytes, so that no 64-bit arithmetic is linked: bit
 * 63 is the only bit in the tenth byte of the varint. */
static bool below_i64(const uint8_t *header)
{
    if (*header != 0x3f) return false;
    uint8_t lower = 0;
    uint8_t i = 1;
    for (; header[i] & 0x80; i++) lower = (uint8_t)(lower | (header[i] & 0x7f));
    return i == 10 && header[i] == 1 && lower;
}

dn_fault dn_check(const void *message, size_t size, bool strict)
{
    const uint8_t *first[DN_NESTING + 1]; /* the first key of the map at each depth */
    dn_reader r;
    dn_reader_init(&r, message, size);
    if (strict) dn_reader_strict(&r);
    while (dn_next(&r)) {
        dn_error kind = DN_OK;
        if (r.type == DN_MAP) first[r.depth] = r.at;
        else if (r.type == DN_KEY && is_duplicate_key(&r, first[r.depth])) kind = DN_MALFORMED;
        else if (r.type == DN_NEGATIVE && r.wide && below_i64(r.item)) kind = DN_RANGE;
        if (kind) {
            dn_fault fault = {kind, (size_t)(r.item - (const uint8_t *)message)};
            return fault;
        }
    }
    dn_done(&r);
    dn_fault fault = {r.error, r.error ? dn_error_offset(&r) : 0};
    return fault;
}
