/* The writer, for values of up to 32 bits.
 *
 * Every function asks once whether its item fits, and then stores it byte by byte. What does not fit in that simple way, goes to a
 * function of its own, by a tail call: so the usual path needs no frame and saves no register, which is a third of its time on AVR. */
#include "dn_internal.h"

#include <string.h>

void dn_writer_init(dn_writer *w, void *buffer, size_t size)
{
    if (size > DN_MESSAGE_MAX) size = DN_MESSAGE_MAX;
    w->start = w->at = w->end = (uint8_t *)buffer;
    if (buffer) w->end += size;
    w->past = 0;
    w->spill = NULL;
    w->error = DN_OK;
}

size_t dn_written(const dn_writer *w)
{
    return (size_t)((uintptr_t)w->at - (uintptr_t)w->start) + w->past;
}

size_t dn_write_error_offset(const dn_writer *w)
{
    if (w->error == DN_LIMIT) return DN_MESSAGE_MAX;
    return w->spill ? ((const dn_sink *)w)->taken : dn__size(w);
}

/* ---- When an item does not fit ---------------------------------------------------------------------------------------------- */

void dn__count(dn_writer *w, size_t n)
{
    size_t written = dn_written(w) + n;
    if (written < n) written = SIZE_MAX;
    w->at = w->end;
    w->past = written - dn__size(w);
}

bool dn__room(dn_writer *w, size_t n)
{
    if (dn__left(w) >= n) return true;
    if (!w->error && w->spill && w->spill(w) && dn__left(w) >= n) return true;
    dn__count(w, n);
    if (!w->error) {
        bool smaller = w->start && !w->spill && dn__size(w) < DN_MESSAGE_MAX;
        if (!smaller && dn_written(w) > DN_MESSAGE_MAX) w->error = DN_LIMIT;
        else if (w->start || w->spill) w->error = DN_TRUNCATED;
    }
    return false;
}

DN__APART void dn__append(dn_writer *w, const uint8_t *item, uint8_t n)
{
    if (!dn__room(w, n)) return;
    do *w->at++ = *item++;
    while (--n);
}

/* ---- Headers ----------------------------------------------------------------------------------------------------------------- */

uint8_t *dn__varint(uint8_t *to, uint32_t n)
{
    while (n >= 0x80) {
        *to++ = (uint8_t)(n | 0x80);
        /* n >> 7, but AVR shifts by eight and by one without a loop. */
        n = n >> 8 << 1 | (uint8_t)n >> 7;
    }
    *to++ = (uint8_t)n;
    return to;
}

static DN__APART void put_slowly(dn_writer *w, uint8_t byte)
{
    dn__append(w, &byte, 1);
}

void dn__put(dn_writer *w, uint8_t byte)
{
    uint8_t *at = w->at;
    if (at == w->end) {
        put_slowly(w, byte);
        return;
    }
    *at++ = byte;
    w->at = at;
}

static DN__APART void head_slowly(dn_writer *w, uint32_t n, uint8_t type)
{
    uint8_t item[6];
    item[0] = type | 31;
    dn__append(w, item, (uint8_t)(dn__varint(item + 1, n) - item));
}

static DN__APART void long_head(dn_writer *w, uint32_t n, uint8_t type)
{
    uint8_t *at = w->at;
    if (dn__left(w) < 6) {
        head_slowly(w, n, type);
        return;
    }
    *at++ = type | 31;
    w->at = dn__varint(at, n);
}

void dn__head(dn_writer *w, uint32_t n, uint8_t type)
{
    if (n <= 30) dn__put(w, (uint8_t)(type | n));
    else long_head(w, n, type);
}

void dn_write_map(dn_writer *w, uint32_t entries) { dn__head(w, entries, DN__HEAD_MAP); }

void dn_write_array(dn_writer *w, uint32_t elements) { dn__head(w, elements, DN__HEAD_ARRAY); }

void dn_write_uint(dn_writer *w, uint32_t value) { dn__head(w, value, DN__HEAD_UINT); }

void dn_write_int(dn_writer *w, int32_t value)
{
    if (value < 0) dn__head(w, 0 - (uint32_t)value, DN__HEAD_NEGATIVE);
    else dn__head(w, (uint32_t)value, DN__HEAD_UINT);
}

void dn_write_bool(dn_writer *w, bool value) { dn__put(w, (uint8_t)(DN__HEAD_DISCRETE | value)); }

void dn_write_null(dn_writer *w) { dn__put(w, DN__HEAD_DISCRETE | 2); }

/* ---- Text and bytes ------------------------------------------------------------------------------------------------------------ */

/* Marks in `type` that the text is in flash. */
enum { IN_FLASH = 1 };

/* Of any length, wherever it has to go. A sink takes it in pieces. */
static DN__APART void long_block(dn_writer *w, const void *data, size_t size, uint8_t type)
{
    const uint8_t *from = (const uint8_t *)data;
    uint8_t head = 1;
    if (size > 30) {
        size_t n = size;
        do ++head;
        while (n >>= 7);
    }
    size_t whole = size > SIZE_MAX - head ? SIZE_MAX : size + head;
    if (!dn__room(w, w->spill && size <= DN_MESSAGE_MAX ? head : whole)) {
        if (w->spill && size <= DN_MESSAGE_MAX) dn__count(w, size);
        return;
    }
    uint8_t wire_type = type & 0xe0;
    if (head == 1) {
        *w->at++ = (uint8_t)(wire_type | size);
    } else {
        *w->at++ = wire_type | 31;
        w->at = dn__varint(w->at, (uint32_t)size);
    }
    while (size) {
        if (!dn__room(w, 1)) {
            dn__count(w, size - 1);
            return;
        }
        size_t piece = dn__left(w);
        if (piece > size) piece = size;
#if defined(__AVR__)
        if (type & IN_FLASH) memcpy_P(w->at, from, piece);
        else
#endif
        memcpy(w->at, from, piece);
        w->at += piece;
        from += piece;
        size -= piece;
    }
}

static void block(dn_writer *w, const void *data, size_t size, uint8_t type)
{
    uint8_t *at = w->at;
    if (size > 30 || dn__left(w) <= size) {
        long_block(w, data, size, type);
        return;
    }
    const uint8_t *from = (const uint8_t *)data;
    uint8_t n = (uint8_t)size;
    *at++ = type | n;
    for (; n; --n) *at++ = *from++;
    w->at = at;
}

void dn_write_text(dn_writer *w, const char *text, size_t size) { block(w, text, size, DN__HEAD_TEXT); }

void dn_write_bytes(dn_writer *w, const void *bytes, size_t size) { block(w, bytes, size, DN__HEAD_BYTES); }

void dn_write_str(dn_writer *w, const char *text)
{
    const char *end = text;
    while (*end) ++end;
    dn_write_text(w, text, (size_t)(end - text));
}

#if defined(__AVR__)

void dn_write_text_P(dn_writer *w, const char *text, size_t size) { long_block(w, text, size, DN__HEAD_TEXT | IN_FLASH); }

void dn_write_short_key(dn_writer *w, const char *text, uint8_t header)
{
    uint8_t *at = w->at;
    uint8_t n = header & 31;
    if (dn__left(w) <= n) {
        dn_write_text_P(w, text, n);
        return;
    }
    *at++ = header;
    for (; n; --n) *at++ = pgm_read_byte(text++);
    w->at = at;
}

#else

void dn_write_short_key(dn_writer *w, const char *text, uint8_t header) { block(w, text, header & 31, DN__HEAD_TEXT); }

#endif

/* ---- Floating point -------------------------------------------------------------------------------------------------------------- */

/* A binary32 is sign, exponent + 127, and 23 bits of a mantissa whose 24th bit is 1. */
#define EXPONENT(n) (127 + (n))

static DN__APART void binary32_slowly(dn_writer *w, uint32_t bits)
{
    uint8_t item[5] = {DN__HEAD_FLOAT, (uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
    dn__append(w, item, 5);
}

DN__APART void dn__binary32(dn_writer *w, uint32_t bits)
{
    uint8_t *at = w->at;
    if (dn__left(w) < 5) {
        binary32_slowly(w, bits);
        return;
    }
    *at++ = DN__HEAD_FLOAT;
    *at++ = (uint8_t)bits;
    *at++ = (uint8_t)(bits >> 8);
    *at++ = (uint8_t)(bits >> 16);
    *at++ = (uint8_t)(bits >> 24);
    w->at = at;
}

/* A whole number `mantissa` << `shift` of 33 to 64 bits, without arithmetic of 64: seven bits of zero are a byte of the varint. */
static DN__APART void huge_float(dn_writer *w, uint32_t mantissa, uint8_t shift, uint8_t type)
{
    uint8_t item[11];
    uint8_t *to = item;
    *to++ = type | 31;
    for (; shift >= 7; shift = (uint8_t)(shift - 7)) *to++ = 0x80;
    dn__append(w, item, (uint8_t)(dn__varint(to, mantissa << shift) - item));
}

/* A float that is 256 or more, infinite or no number. */
static DN__APART void large_float(dn_writer *w, uint32_t bits)
{
    uint8_t exponent = (uint8_t)(bits >> 23);
    uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
    uint8_t type = bits >> 31 ? DN__HEAD_NEGATIVE : DN__HEAD_UINT;
    uint8_t shift = (uint8_t)(exponent - EXPONENT(23));
    if (exponent < EXPONENT(23)) {
        shift = (uint8_t)(EXPONENT(23) - exponent);
        if (shift >= 8 && (uint8_t)mantissa == 0) {
            mantissa >>= 8;
            shift = (uint8_t)(shift - 8);
        }
        for (; shift; --shift) {
            if (mantissa & 1) {
                dn__binary32(w, bits);
                return;
            }
            mantissa >>= 1;
        }
        dn__head(w, mantissa, type);
    } else if (exponent < EXPONENT(32)) {
        dn__head(w, mantissa << shift, type);
    } else if (exponent < EXPONENT(63) || bits == 0xdf000000 || (exponent == EXPONENT(63) && type == DN__HEAD_UINT)) {
        huge_float(w, mantissa, shift, type); /* 0xdf000000 is -2^63 */
    } else {
        dn__binary32(w, exponent == 255 && mantissa != 0x800000 ? 0x7fc00000 : bits);
    }
}

void dn_write_float(dn_writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t high = (uint16_t)(bits >> 16);
    uint8_t exponent = (uint8_t)(high >> 7);
    if (exponent >= EXPONENT(8)) {
        large_float(w, bits);
        return;
    }
    /* Below 256, a whole number has nothing in the lower 16 bits, and the rest is arithmetic of 8 bits. */
    if (exponent >= EXPONENT(0) && (uint16_t)bits == 0) {
        uint8_t mantissa = (uint8_t)(high | 0x80);
        for (; exponent < EXPONENT(7); ++exponent) {
            if (mantissa & 1) {
                dn__binary32(w, bits);
                return;
            }
            mantissa >>= 1;
        }
        dn__head(w, mantissa, high & 0x8000 ? DN__HEAD_NEGATIVE : DN__HEAD_UINT);
    } else if (bits) {
        dn__binary32(w, bits);
    } else {
        dn__put(w, DN__HEAD_UINT);
    }
}
