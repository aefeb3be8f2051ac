/* Compares a message with the one that its JSON text is converted back to, for the unit tests and the fuzz target. */
#ifndef COMPARE_MESSAGES_H
#define COMPARE_MESSAGES_H

#include "dn_pson.h"

#include <string.h>

/* Returns whether two messages are equal. Where `first` has a binary32, `second` may have a binary64: its shortest text, read as a
 * binary64. */
static inline bool equal_except_float_width(const uint8_t *first, size_t first_size, const uint8_t *second, size_t second_size)
{
    dn_reader a, b;
    dn_reader_init(&a, first, first_size);
    dn_reader_init(&b, second, second_size);
    for (;;) {
        dn_type type = dn_next(&a);
        dn_next(&b);
        if (type == DN_FLOAT) {
            float one = dn_float(&a);
            float other = (float)dn_get_double(&b);
            if (b.error || memcmp(&one, &other, sizeof one) != 0) return false;
            continue;
        }
        if (b.type != type || a.error || b.error) return false;
        if (type == DN_STOP) return true;
        size_t size = (size_t)(a.at - a.item);
        if (size != (size_t)(b.at - b.item) || memcmp(a.item, b.item, size) != 0) return false;
    }
}

#endif
