/* The pull reader: dn_next, its parts, and functions built on it.
 *
 * dn_next handles short items itself, and ends in a call for everything else. It therefore needs no register that it would have to
 * save (on AVR, each takes two cycles to push and two to pop). Nothing here uses 64-bit arithmetic or floating point.
 */
#include "dn_internal.h"

#include <string.h>

#define PAYLOAD 0x1f
#define VARINT 31 /* the payload that means that a varint with N follows */

#define WIRE_TYPE 0xe0

void dn_reader_init(dn_reader *r, const void *message, size_t size)
{
    r->start = r->at = r->item = (const uint8_t *)message;
    /* As a number, because C does not allow adding to NULL, not even 0. */
    r->end = (const uint8_t *)((uintptr_t)message + size);
    r->left = DN__ITEM;
    r->strict = NULL;
    r->type = DN_STOP;
    r->error = DN_OK;
    r->depth = 0;
    if (size > DN_MESSAGE_MAX) {
        r->item = (const uint8_t *)((uintptr_t)message + DN_MESSAGE_MAX);
        dn__fail(r, DN_LIMIT);
    }
}

dn_type dn__fail(dn_reader *r, dn_error kind)
{
    if (!r->error) {
        r->error = kind;
        if (kind == DN_TRUNCATED) {
            r->item = r->end;
        }
    }
    /* With nothing left, dn_next calls `end_container`, which finds the error. */
    r->left = 0;
    r->depth = 0;
    r->n = 0;
    r->wide = false;
    r->type = DN_STOP;
    return DN_STOP;
}

size_t dn_error_offset(const dn_reader *r)
{
    return (size_t)((uintptr_t)r->item - (uintptr_t)r->start); /* both may be NULL */
}

/* Leaves the current container, in which nothing is left, or ends the message. */
static DN__APART dn_type end_container(dn_reader *r)
{
    DN__IN_Z(r);
    const uint8_t *at = r->at;
    uint8_t depth = r->depth;
    if (depth) {
        depth--;
        r->depth = depth;
        r->left = r->levels[depth];
        r->item = at;
        r->type = DN_END;
        return DN_END;
    }
    if (!r->error) {
        r->item = at;
        if (at != r->end) {
            return dn__fail(r, DN_MALFORMED);
        }
        r->type = DN_STOP;
    }
    return DN_STOP;
}

/* Returns the type of the current text, or fails if it is not UTF-8. */
static DN__APART dn_type check_text(dn_reader *r)
{
    size_t size = (size_t)r->n;
    return dn_is_utf8(r->at - size, size) ? r->type : dn__fail(r, DN_MALFORMED);
}

/* Completes the current item, whose N was a varint, or which is a float. */
static DN__APART dn_type complete_item(dn_reader *r)
{
    dn_type type = r->type;
    if (type == DN_MAP || type == DN_ARRAY) {
        /* Larger counts can be reduced to this one: each item takes a byte, so that the first missing item is at the same
         * offset. */
        size_t left = type == DN_MAP ? DN__SIZE_MAX / 4 : DN__SIZE_MAX / 2;
        if (!r->wide && r->n < left) {
            left = (size_t)r->n;
        }
        left *= DN__ITEM;
        if (type == DN_MAP) {
            left = left * 2 | DN__MAP;
        }
        r->left = left;
    } else if (type <= DN_BYTES) {
        const uint8_t *at = r->at;
        if (r->wide || r->n > (size_t)(r->end - at)) {
            return dn__fail(r, DN_TRUNCATED);
        }
        r->at = at + (size_t)r->n;
        if (type != DN_BYTES) {
            return check_text(r);
        }
    } else if (type == DN_NEGATIVE && r->n == 0 && !r->wide) {
        r->type = type = DN_UINT;
    }
    return type;
}

/* Completes the current item, which has a varint or is a float, in strict mode. */
static DN__APART dn_type complete_strict_item(dn_reader *r)
{
    return r->strict(r) ? complete_item(r) : dn__fail(r, DN_MALFORMED);
}

/* Sets r->n to `n` and r->wide to 0. */
static inline void set_n(dn_reader *r, uint8_t n)
{
#if defined(__AVR__)
    /* Otherwise the compiler first assembles the 32 bits in four registers. */
    uint8_t *bytes = (uint8_t *)&r->n;
    bytes[0] = n;
    bytes[1] = bytes[2] = bytes[3] = 0;
#else
    r->n = n;
#endif
    r->wide = 0;
}

/* Reads the varint at r->at, the N of the current item, whose type is set. */
static DN__APART dn_type read_varint_item(dn_reader *r)
{
    const uint8_t *at = r->at;
    const uint8_t *end = r->end;
    if (at == end) {
        return dn__fail(r, DN_TRUNCATED);
    }
    uint8_t byte = *at;
    at++;
    set_n(r, byte & 0x7f);
#if defined(__AVR__)
    /* A shift of 32 bits by a variable is a loop of four instructions a bit, but a product of two bytes takes two cycles: seven
     * bits times `scale` are the upper bits of one byte of N and the lower bits of the next. r->wide follows the last byte of N. */
    uint8_t *to = (uint8_t *)r + offsetof(dn_reader, n);
#else
    uint8_t shift = 7;
#endif
    uint8_t scale = 0x80; /* 0x10 for the fifth byte, and 0 for the tenth */
    while (byte & 0x80) {
        if (at == end) {
            return dn__fail(r, DN_TRUNCATED);
        }
        byte = *at;
        at++;
        uint8_t bits = byte & 0x7f;
        if (scale >= 0x10) {
#if defined(__AVR__)
            uint16_t product = (uint16_t)(bits * scale);
            DN__IN_Z(to);
            *to |= (uint8_t)product;
            to++;
            *to = (uint8_t)(product >> 8);
#else
            r->n |= (uint32_t)bits << shift;
            shift = (uint8_t)(shift + 7);
            if (scale == 0x10) {
                r->wide = bits >> 4;
            }
#endif
        } else {
            if (scale == 0 && byte > 1) {
                return dn__fail(r, DN_MALFORMED);
            }
            r->wide |= bits;
        }
        scale >>= 1;
    }
    r->at = at;
    if (r->strict) {
        return complete_strict_item(r);
    }
    if (r->type == DN_UINT) {
        return DN_UINT;
    }
    return complete_item(r);
}

dn_type dn_next(dn_reader *r)
{
    DN__IN_Z(r);
    size_t left = r->left;
    if (left < DN__ITEM) {
        return end_container(r);
    }
    const uint8_t *at = r->at;
    const uint8_t *end = r->end;
    r->item = at;
    if (at == end) {
        return dn__fail(r, DN_TRUNCATED);
    }
    left -= DN__ITEM;
    r->left = left;
    uint8_t header = *at;
    at++;
    uint8_t payload = header & PAYLOAD;
    uint8_t low = (uint8_t)left;
    DN__IN_BYTE(low);
    dn_type type;
    if ((low & 3) == (DN__ITEM | DN__MAP)) {
        if ((header & WIRE_TYPE) != DN__HEAD_TEXT) {
            return dn__fail(r, DN_MALFORMED);
        }
        type = DN_KEY;
        goto text;
    }
    if ((header & 0xc0) == 0x80) {
        type = DN_TEXT;
        if (header & 0x20) {
            type = DN_BYTES;
        }
text:
        r->type = type;
        if (payload == VARINT) {
            r->at = at;
            return read_varint_item(r);
        }
        set_n(r, payload);
        if ((size_t)(end - at) < payload) {
            return dn__fail(r, DN_TRUNCATED);
        }
        uint8_t all = 0;
        if (payload) {
            do {
                all |= *at;
                at++;
                DN__IN_X(at);
            } while (--payload);
        }
        r->at = at;
        return all & 0x80 && type != DN_BYTES ? check_text(r) : type;
    }
    if ((header & WIRE_TYPE) == DN__HEAD_FLOAT) {
        uint8_t size = 4;
        type = DN_FLOAT;
        if (payload) {
            if (payload > 1) {
                return dn__fail(r, DN_MALFORMED);
            }
            size = 8;
            type = DN_DOUBLE;
        }
        if ((size_t)(end - at) < size) {
            return dn__fail(r, DN_TRUNCATED);
        }
        r->at = at + size;
        r->type = type;
        return r->strict ? complete_strict_item(r) : type;
    }
    r->at = at;
    if (header & 0x80) {
        /* a map or an array */
        uint8_t depth = r->depth;
        if (depth == DN_NESTING) {
            return dn__fail(r, DN_LIMIT);
        }
        r->levels[depth] = left;
        r->depth = (uint8_t)(depth + 1);
        type = DN_ARRAY;
        left = (size_t)payload * DN__ITEM;
        if (!(header & 0x20)) {
            type = DN_MAP;
            left = left * 2 | DN__MAP;
        }
        r->left = left;
    } else if (header & 0x40) {
        if (payload > 2) {
            return dn__fail(r, DN_MALFORMED);
        }
        type = DN_BOOL;
        if (payload == 2) {
            type = DN_NULL;
        }
    } else {
        type = DN_UINT;
        if (header & 0x20) {
            type = DN_NEGATIVE;
            if (!payload) {
                type = DN_UINT;
                if (r->strict) {
                    return dn__fail(r, DN_MALFORMED);
                }
            }
        }
    }
    r->type = type;
    if (payload == VARINT) {
        return read_varint_item(r);
    }
    set_n(r, payload);
    return type;
}

bool dn_done(dn_reader *r)
{
    /* Containers that were read to their end may still be open. */
    while (r->left < DN__ITEM) {
        if ((r->depth == 0 && r->at == r->end) || dn_next(r) == DN_STOP) {
            return !r->error;
        }
    }
    r->item = r->at;
    dn__fail(r, DN_WRONG_TYPE);
    return false;
}

bool dn_expect(dn_reader *r, dn_type type)
{
    if (dn_next(r) != type) {
        dn__fail(r, DN_WRONG_TYPE);
        return false;
    }
    return true;
}

bool dn_read_key(dn_reader *r)
{
    dn_type type = dn_next(r);
    if (type == DN_KEY) {
        return true;
    }
    if (type > DN_END) {
        dn__fail(r, DN_WRONG_TYPE);
    }
    return false;
}

bool dn_more(dn_reader *r)
{
    if (r->left >= DN__ITEM) {
        return true;
    }
    dn_next(r);
    return false;
}

bool dn_get_bool(dn_reader *r)
{
    if (r->type != DN_BOOL) {
        dn__fail(r, DN_WRONG_TYPE);
    }
    return r->n != 0;
}

bool dn_copy_text(dn_reader *r, char *to, size_t size)
{
    bool text = r->type == DN_TEXT || r->type == DN_KEY;
    if (size) to[0] = '\0';
    if (!text || !size) {
        dn__fail(r, text ? DN_RANGE : DN_WRONG_TYPE);
        return false;
    }
    const char *from = dn_chars(r);
    size_t length = (size_t)r->n;
    if (length >= size || memchr(from, 0, length)) {
        dn__fail(r, DN_RANGE);
        return false;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

bool dn_chars_are(const dn_reader *r, const char *text, uint16_t size)
{
#if defined(__AVR__)
    return memcmp_P(dn_chars(r), text, size) == 0;
#else
    return memcmp(dn_chars(r), text, size) == 0;
#endif
}
