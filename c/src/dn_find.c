/* Moves within a message: over items, out of containers, to a key. */
#include "dn_internal.h"

#include <string.h>

void dn_skip(dn_reader *r)
{
    uint8_t depth = r->depth;
    /* An error sets the depth to 0. */
    do {
        dn_next(r);
    } while (r->depth > depth);
}

void dn_leave(dn_reader *r)
{
    uint8_t depth = r->depth;
    if (depth == 0) {
        return;
    }
    do {
        dn_next(r);
    } while (r->depth >= depth);
}

bool dn_find(dn_reader *r, const dn_mark *map, const char *text, size_t size)
{
    if (r->error) {
        return false;
    }
    r->at = map->at;
    r->left = map->left;
    r->depth = map->depth;
    while (r->left >= DN__ITEM) {
        if (!dn_read_key(r)) {
            return false;
        }
        /* Without a size, `text` may be NULL, which memcmp does not allow. */
        if (r->n == size && (size == 0 || memcmp(dn_chars(r), text, size) == 0)) {
            return true;
        }
        dn_skip(r);
    }
    return false;
}
