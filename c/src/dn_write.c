/* The writer, for values of up to 32 bits.
 *
 * Every function checks once whether its item fits, and then stores it byte by byte. All other cases go to a separate function
 * by a tail call, so that the common path needs no frame and saves no register, which is a third of its time on AVR. */
#include "dn_avr.h"
#include "dn_internal.h"

#include <string.h>

void dn_writer_init(dn_writer *w, void *buffer, size_t size)
{
    uint8_t *at = (uint8_t *)buffer;
    w->at = at;
    w->start = at;
    if (size > DN_MESSAGE_MAX) size = DN_MESSAGE_MAX;
    if (at) at += size;
    w->end = at;
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

DN__APART bool dn__room(dn_writer *w, size_t n)
{
    if (dn__left(w) >= n || (w->spill && w->spill(w, NULL, n, 0))) return true;
    size_t written = dn_written(w) + n;
    if (written < n) written = DN__SIZE_MAX;
    w->at = w->end;
    w->past = written - dn__size(w);
    if (w->error) return false;
    if (written > DN_MESSAGE_MAX) w->error = DN_LIMIT;
    else if (w->start) w->error = DN_TRUNCATED;
    return false;
}

#if defined(__AVR_HAVE_LPMX__)
__attribute__((naked)) void dn__room_stub(void)
{
    __asm__ volatile(
        "push r18\n\t"
        "push r19\n\t"
        "push r20\n\t"
        "push r21\n\t"
        "push r22\n\t"
        "push r23\n\t"
        "push r30\n\t"
        "push r31\n\t"
        "movw r24, r30\n\t"
        "movw r22, r26\n\t"
        "%~call %x0\n\t"
        "pop r31\n\t"
        "pop r30\n\t"
        "pop r23\n\t"
        "pop r22\n\t"
        "pop r21\n\t"
        "pop r20\n\t"
        "pop r19\n\t"
        "pop r18\n\t"
        "ret"
        : : "i"(dn__room));
}
#endif

/* ---- Headers ----------------------------------------------------------------------------------------------------------------- */

void dn__write_byte(dn_writer *w, uint8_t byte)
{
    DN__IN_Z(w);
    uint8_t *at = w->at;
    if (at == w->end) {
        if (!dn__make_room(w, 1)) return;
        at = w->at;
    }
    w->at = dn__store(at, byte);
}

/* Writes a header with N = `n` << 7 * (the lower three bits of `type`), which is above 30. */
static DN__APART void write_long_header(dn_writer *w, uint32_t n, uint8_t type)
{
    DN__IN_Z(w);
    uint8_t zeros = type & 7;
    if (dn__left(w) < (uint8_t)(6 + zeros)) {
        uint8_t size = (uint8_t)(1 + zeros);
        uint32_t rest = n;
        do ++size;
        while ((rest = dn__next_group(rest)));
        if (!dn__make_room(w, size)) return;
    }
    uint8_t *at = w->at;
    at = dn__store(at, type | 31);
    for (; zeros; --zeros) at = dn__store(at, 0x80);
    for (; n >= 0x80; n = dn__next_group(n)) at = dn__store(at, (uint8_t)(n | 0x80));
    w->at = dn__store(at, (uint8_t)n);
}

void dn__write_header(dn_writer *w, uint32_t n, uint8_t type)
{
    if (n <= 30) dn__write_byte(w, (uint8_t)(type | n));
    else write_long_header(w, n, type);
}

void dn_write_map(dn_writer *w, uint32_t entries) { dn__write_header(w, entries, DN__HEAD_MAP); }

void dn_write_array(dn_writer *w, uint32_t elements) { dn__write_header(w, elements, DN__HEAD_ARRAY); }

void dn_write_uint(dn_writer *w, uint32_t value) { dn__write_header(w, value, DN__HEAD_UINT); }

void dn_write_int(dn_writer *w, int32_t value)
{
    if (value < 0) dn__write_header(w, 0 - (uint32_t)value, DN__HEAD_NEGATIVE);
    else dn__write_header(w, (uint32_t)value, DN__HEAD_UINT);
}

void dn_write_bool(dn_writer *w, bool value) { dn__write_byte(w, (uint8_t)(DN__HEAD_DISCRETE | value)); }

void dn_write_null(dn_writer *w) { dn__write_byte(w, DN__HEAD_DISCRETE | 2); }

/* ---- Text and bytes ------------------------------------------------------------------------------------------------------------ */

/* Writes text or bytes of any length. */
static DN__APART void write_long_block(dn_writer *w, const void *data, size_t size, uint8_t type)
{
    DN__IN_Z(w);
    if (w->spill) {
        w->spill(w, data, size, type);
        return;
    }
    size_t total = size + 1;
    size_t n = size;
    if (size > 30)
        do ++total;
        while (n >>= 7);
    if (!dn__make_room(w, total < size ? DN__SIZE_MAX : total)) return;
    uint8_t *at = w->at;
    uint8_t header = type & 0xe0;
    n = size;
    if (n > 30) {
        at = dn__store(at, header | 31);
        for (; n >= 0x80; n >>= 7) at = dn__store(at, (uint8_t)(n | 0x80));
        header = 0;
    }
    at = dn__store(at, (uint8_t)(header | n));
    const uint8_t *from = (const uint8_t *)data;
    if (size) at = dn__copy_from(at, &from, size, type & DN__IN_FLASH);
    w->at = at;
}

static void write_block(dn_writer *w, const void *data, size_t size, uint8_t type)
{
    DN__IN_Z(w);
    uint8_t *at = w->at;
    if (size > 30 || dn__left(w) <= size) {
        write_long_block(w, data, size, type);
        return;
    }
    at = dn__store(at, (uint8_t)(type | size));
    w->at = dn__copy(at, data, (uint8_t)size);
}

void dn_write_text(dn_writer *w, const char *text, size_t size) { write_block(w, text, size, DN__HEAD_TEXT); }

void dn_write_bytes(dn_writer *w, const void *bytes, size_t size) { write_block(w, bytes, size, DN__HEAD_BYTES); }

void dn_write_str(dn_writer *w, const char *text)
{
    const char *end = text;
    while (*end++) {}
    dn_write_text(w, text, (size_t)(end - text - 1));
}

#if defined(__AVR__)

void dn_write_text_P(dn_writer *w, const char *text, size_t size) { write_long_block(w, text, size, DN__HEAD_TEXT | DN__IN_FLASH); }

void dn_write_short_key(dn_writer *w, const char *text, uint8_t header)
{
    DN__IN_Z(w);
    uint8_t *at = w->at;
    uint8_t n = header & 31;
    if (dn__left(w) <= n) {
        dn_write_text_P(w, text, n);
        return;
    }
    at = dn__store(at, header);
    w->at = dn__copy_P(at, text, n);
}

#else

void dn_write_short_key(dn_writer *w, const char *text, uint8_t header) { write_block(w, text, header & 31, DN__HEAD_TEXT); }

#endif

/* ---- Floating point -------------------------------------------------------------------------------------------------------------- */

/* A binary32 is sign, exponent + 127, and 23 bits of a mantissa whose 24th bit is 1. */
#define EXPONENT(n) (127 + (n))

DN__APART void dn__binary32(dn_writer *w, uint32_t bits)
{
    DN__IN_Z(w);
    if (dn__left(w) < 5 && !dn__make_room(w, 5)) return;
    uint8_t *at = w->at;
    at = dn__store(at, DN__HEAD_FLOAT);
    at = dn__store(at, (uint8_t)bits);
    at = dn__store(at, (uint8_t)(bits >> 8));
    at = dn__store(at, (uint8_t)(bits >> 16));
    w->at = dn__store(at, (uint8_t)(bits >> 24));
}

/* Writes a whole float that is an integer of the wire format, and not 0. */
static DN__APART void write_as_integer(dn_writer *w, uint32_t bits, uint8_t exponent)
{
    uint8_t type = dn__high(bits) & 0x8000 ? DN__HEAD_NEGATIVE : DN__HEAD_UINT;
    bits = (bits & 0x7fffff) | 0x800000;
    for (; exponent < EXPONENT(16); exponent = (uint8_t)(exponent + 8)) bits >>= 8;
    for (; exponent < EXPONENT(23); ++exponent) bits >>= 1;
    /* Avoids 64-bit arithmetic: seven zero bits are one byte of the varint. */
    for (; exponent >= EXPONENT(30); exponent = (uint8_t)(exponent - 7)) ++type;
    for (; exponent > EXPONENT(23); --exponent) bits <<= 1;
    dn__write_header(w, bits, type);
}

/* Writes a float that may be whole. */
static DN__APART void write_float_or_integer(dn_writer *w, uint32_t bits, uint8_t exponent)
{
    /* Counts the trailing zeros of the mantissa, a byte at a time. */
    uint8_t zeros = 0;
    uint8_t low = (uint8_t)bits;
    if (!low) {
        zeros = 8;
        low = (uint8_t)(bits >> 8);
        if (!low) {
            zeros = 16;
            low = (uint8_t)(dn__high(bits) | 0x80);
        }
    }
    for (; !(low & 1); low >>= 1) ++zeros;
    bool power = zeros == 23;

    if (bits == 0) {
        dn__write_byte(w, DN__HEAD_UINT);
    } else if ((exponent < EXPONENT(23) && zeros < (uint8_t)(EXPONENT(23) - exponent)) || exponent > EXPONENT(63) ||
        (exponent == EXPONENT(63) && !power && dn__high(bits) & 0x8000)) {
        if (exponent == 255 && !power) bits = 0x7fc00000;
        dn__binary32(w, bits);
    } else {
        write_as_integer(w, bits, exponent);
    }
}

void dn_write_float(dn_writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint8_t exponent = (uint8_t)((uint16_t)(dn__high(bits) << 1) >> 8);
    /* Below 256, a whole number has zeros in the lower 16 bits. */
    if ((uint16_t)bits && exponent < EXPONENT(8)) dn__binary32(w, bits);
    else write_float_or_integer(w, bits, exponent);
}
