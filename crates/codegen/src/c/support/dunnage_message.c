/* What messages that `dunnage generate c` wrote share; do not edit. See dunnage_message.h. */
#include "dunnage_message.h"

#include <float.h>
#include <limits.h>

/* The field of a fault that is none of a field. */
#define MESSAGE 0

/* ---- Writer ------------------------------------------------------------------------------------------------------------------
 * Shifts are multiplications by a power of two: that is one instruction of 8-bit machines, which cannot shift by a variable. */

void dunnage_start_writing(dunnage_writer *w, uint8_t *buffer, size_t size, uint8_t slot)
{
    w->at = buffer;
    w->end = size ? buffer + size : buffer;
    w->byte = slot;
    w->unit = 1;
    w->error = DUNNAGE_OK;
    w->field = MESSAGE;
}

void dunnage_refuse(dunnage_writer *w, uint8_t error, uint8_t field)
{
    if (w->error) return;
    w->error = error;
    w->field = field;
}

/* The last byte, then what became of the message. */
static void put_last(dunnage_writer *w)
{
    if (w->at == w->end) dunnage_refuse(w, DUNNAGE_TRUNCATED, MESSAGE);
    else *w->at++ = w->byte;
}

static size_t written(const dunnage_writer *w, const uint8_t *buffer, dunnage_fault *fault)
{
    if (fault) {
        fault->kind = w->error;
        fault->field = w->field;
    }
    return w->error ? 0 : (size_t)(w->at - buffer);
}

size_t dunnage_end_writing(dunnage_writer *w, const uint8_t *buffer, dunnage_fault *fault)
{
    put_last(w);
    return written(w, buffer, fault);
}

/* `value` as an index out of max + 1. In this order of arguments an 8-bit machine keeps the writer in registers from call to call. */
void dunnage_put_index(uint8_t field, uint32_t value, uint32_t max, dunnage_writer *w)
{
    uint8_t *at = w->at;
    uint8_t byte = w->byte, unit = w->unit, bytes = 4, top, lift = 1;
    if (value > max) {
        dunnage_refuse(w, DUNNAGE_RANGE, field);
        return;
    }
    if (!max) return;
    /* Brings the highest bit of the index up to that of the 32 bits, but for `lift`. */
    while (!(top = (uint8_t)(max >> 24))) {
        max <<= 8;
        value <<= 8;
        bytes--;
    }
    for (; !(top & 0x80); top = (uint8_t)(top << 1)) lift = (uint8_t)(lift << 1);
    do {
        uint8_t part = (uint8_t)((uint8_t)(value >> 24) * lift);
        uint16_t split = (uint16_t)((uint16_t)part * unit);
        uint16_t moved = (uint16_t)((uint16_t)lift * unit);
        byte = (uint8_t)(byte | split >> 8);
        unit = (uint8_t)(moved >> 8);
        if (!unit) {
            if (at == w->end) {
                dunnage_refuse(w, DUNNAGE_TRUNCATED, field);
                return;
            }
            *at++ = byte;
            byte = (uint8_t)split;
            unit = (uint8_t)moved;
        }
        lift = 1;
        value <<= 8;
    } while (--bytes);
    w->at = at;
    w->byte = byte;
    w->unit = unit;
}

/* The same in 8 bits. */
void dunnage_put_small(uint8_t field, uint8_t value, uint8_t max, dunnage_writer *w) { dunnage_put_index(field, value, max, w); }

/* The lowest `bits` bits of `value`, at most 64. */
static void put_bits(uint8_t field, uint64_t value, uint8_t bits, dunnage_writer *w)
{
    uint32_t mask;
    if (bits > 32) {
        mask = UINT32_MAX >> (64 - bits);
        dunnage_put_index(field, (uint32_t)(value >> 32) & mask, mask, w);
        bits = 32;
    }
    mask = bits ? UINT32_MAX >> (32 - bits) : 0;
    dunnage_put_index(field, (uint32_t)value & mask, mask, w);
}

/* 6 bits for the size, then the rest. */
void dunnage_put_sized(uint8_t field, uint64_t value, dunnage_writer *w)
{
    uint8_t size = 0;
    while (size < 63 && value >> size) size++;
    dunnage_put_index(field, size, 63, w);
    if (size) put_bits(field, value, (uint8_t)(size == 63 ? 64 : size - 1), w);
}

/* ---- Floats, by their bits --------------------------------------------------------------------------------------------------- */

/* Whether binary32 holds the finite binary64 with these upper and lower bits. */
static bool is_single(uint32_t high, uint32_t low)
{
    uint16_t exponent = (uint16_t)(high >> 20 & 0x7ff);
    if (!(exponent | (high & 0xfffff) | low)) return true;
    if (exponent > 1023 + 127 || exponent < 1023 - 149) return false;
    if (exponent >= 1023 - 126) return !(low & 0x1fffffff);
    /* Binary32 has it as a subnormal: with one digit less for each power of two below 2^-126. */
    exponent = (uint16_t)(1023 - 126 + 29 - exponent);
    if (exponent < 32) return !(low & (((uint32_t)1 << exponent) - 1));
    return !low && !(high & (((uint32_t)1 << (exponent - 32)) - 1));
}

void dunnage_put_float(uint8_t field, double value, dunnage_writer *w)
{
    uint32_t single;
    float narrow;
#if DBL_MANT_DIG > FLT_MANT_DIG
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        dunnage_refuse(w, DUNNAGE_RANGE, field);
        return;
    }
    if (!is_single((uint32_t)(bits >> 32), (uint32_t)bits)) {
        dunnage_put_index(field, 1, 1, w);
        dunnage_put_index(field, (uint32_t)(bits >> 32), UINT32_MAX, w);
        dunnage_put_index(field, (uint32_t)bits, UINT32_MAX, w);
        return;
    }
#endif
    narrow = (float)value;
    memcpy(&single, &narrow, sizeof single);
    if ((single >> 23 & 0xff) == 0xff) dunnage_refuse(w, DUNNAGE_RANGE, field);
    dunnage_put_index(field, 0, 1, w);
    dunnage_put_index(field, single, UINT32_MAX, w);
}

/* Bytes of the character at `at`, which a NUL follows sometime: 1 to 4; 0 when it is not UTF-8 (RFC 3629). */
static uint8_t utf8_size(const char *at)
{
    uint8_t lead = (uint8_t)at[0], second;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    second = (uint8_t)at[1];
    if ((second & 0xc0) != 0x80) return 0;
    if (lead < 0xe0) return 2;
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
    if (((uint8_t)at[2] & 0xc0) != 0x80) return 0;
    if (lead < 0xf0) return 3;
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
    return ((uint8_t)at[3] & 0xc0) == 0x80 ? 4 : 0;
}

/* Text of `min` to `max` characters. */
void dunnage_put_text(uint8_t field, const char *text, uint16_t min, uint16_t max, dunnage_writer *w)
{
    const char *at = text;
    uint16_t count = 0;
    uint32_t widest = 127;
    for (; *at; count++) {
        uint8_t size = utf8_size(at);
        if (!size || count == max) {
            dunnage_refuse(w, size ? DUNNAGE_RANGE : DUNNAGE_MALFORMED, field);
            return;
        }
        if (size > 1) widest = 255;
        at += size;
    }
    if (count < min) {
        dunnage_refuse(w, DUNNAGE_RANGE, field);
        return;
    }
    dunnage_put_index(field, (uint32_t)(count - min), (uint32_t)(max - min), w);
    if (count) dunnage_put_index(field, widest > 127, 1, w);
    for (at = text; *at; at++) dunnage_put_index(field, (uint8_t)*at, widest, w);
}

/* Text of ASCII alone. */
void dunnage_put_ascii(uint8_t field, const char *text, uint16_t min, uint16_t max, dunnage_writer *w)
{
    uint16_t count = 0;
    while (count <= max && text[count] && (uint8_t)text[count] < 0x80) count++;
    if (count < min || count > max || text[count]) {
        dunnage_refuse(w, DUNNAGE_RANGE, field);
        return;
    }
    dunnage_put_index(field, (uint32_t)(count - min), (uint32_t)(max - min), w);
    if (count) dunnage_put_index(field, 0, 1, w);
    while (*text) dunnage_put_index(field, (uint8_t)*text++, 127, w);
}

/* ---- Patterns ---------------------------------------------------------------------------------------------------------------- */

#if defined(__AVR__)
#define FLASH_8(place) pgm_read_byte(&(place))
#define FLASH_16(place) pgm_read_word(&(place))
#define FLASH_32(place) pgm_read_dword(&(place))
#define FLASH_POINTER(place) ((const uint8_t *)pgm_read_word(&(place)))
#else
#define FLASH_8(place) (place)
#define FLASH_16(place) (place)
#define FLASH_32(place) (place)
#define FLASH_POINTER(place) (place)
#endif

#define NO_INDEX 255

/* The index of a character in the class of a segment; NO_INDEX when it is not in there. */
static uint8_t class_index(const dunnage_segment *s, char character)
{
    const uint8_t *range = FLASH_POINTER(s->ranges);
    uint8_t ranges = FLASH_8(s->count), index = 0;
    for (; ranges; ranges--, range += 2) {
        uint8_t at = (uint8_t)((uint8_t)character - FLASH_8(range[0])), last = FLASH_8(range[1]);
        if (at <= last) return (uint8_t)(index + at);
        index = (uint8_t)(index + last + 1);
    }
    return NO_INDEX;
}

/* Text of a pattern: the counts of its segments, then the characters in groups below 2^32. */
void dunnage_put_pattern(uint8_t field, const char *text, const dunnage_segment *segments, uint8_t count, dunnage_writer *w)
{
    const dunnage_segment *s = segments;
    const char *at = text;
    uint32_t value = 0, product = 1;
    uint16_t left;
    uint8_t index;
    for (; count; count--, s++) {
        uint16_t min = FLASH_16(s->min), max = FLASH_16(s->max);
        for (left = max; left && class_index(s, *at) != NO_INDEX; at++) left--;
        dunnage_put_index(field, (uint32_t)(max - left) - min, (uint32_t)(max - min), w);
    }
    if (*at) dunnage_refuse(w, DUNNAGE_RANGE, field);
    if (w->error) return;
    s = segments;
    for (left = FLASH_16(s->max); *text; text++, left--) {
        while (!left || (index = class_index(s, *text)) == NO_INDEX) left = FLASH_16((++s)->max);
        if (product > FLASH_32(s->most)) {
            dunnage_put_index(field, value, product - 1, w);
            value = 0;
            product = 1;
        }
        value *= FLASH_8(s->radix);
        value += index;
        product *= FLASH_8(s->radix);
    }
    dunnage_put_index(field, value, product - 1, w);
}

/* ---- Reader ------------------------------------------------------------------------------------------------------------------ */

static bool is_truncated(const dunnage_reader *r) { return r->over > 1 || (r->over && r->unit > 1); }

/* What is wrong where bits are missing is that they are missing. */
void dunnage_reject(dunnage_reader *r, uint8_t error, uint8_t field)
{
    if (r->error) return;
    r->error = is_truncated(r) ? (uint8_t)DUNNAGE_TRUNCATED : error;
    r->field = field;
}

/* The next byte; zeros behind the message. */
static uint8_t next(dunnage_reader *r)
{
    if (r->at != r->end) return *r->at++;
    if (r->over < 2) r->over++;
    return 0;
}

bool dunnage_start_reading(dunnage_reader *r, const uint8_t *bytes, size_t size, uint8_t slot)
{
    uint8_t first;
    r->at = bytes;
    r->end = size ? bytes + size : bytes;
    r->unit = 1;
    r->over = 0;
    r->error = DUNNAGE_OK;
    r->field = MESSAGE;
    first = next(r);
    if (!size) r->error = DUNNAGE_TRUNCATED;
    else if (!first || first > 63) r->error = DUNNAGE_MALFORMED;
    else if (first != slot) r->error = DUNNAGE_RANGE;
    if (r->error) return false;
    r->byte = next(r);
    return true;
}

static void end_message(dunnage_reader *r)
{
    if (is_truncated(r) || r->at != r->end || (r->unit > 1 ? r->byte : !r->over)) dunnage_reject(r, DUNNAGE_MALFORMED, MESSAGE);
}

bool dunnage_end_reading(dunnage_reader *r, dunnage_fault *fault)
{
    end_message(r);
    if (fault) {
        fault->kind = r->error;
        fault->field = r->field;
    }
    return !r->error;
}

/* An index out of max + 1. 0 after an error. */
uint32_t dunnage_get_index(dunnage_reader *r, uint32_t max, uint8_t field)
{
    uint32_t value = 0, rest = max;
    uint16_t drop = 256;
    uint8_t bytes = 4, top;
    if (!max) return 0;
    while (!(top = (uint8_t)(rest >> 24))) {
        rest <<= 8;
        bytes--;
    }
    /* `drop` is 1 << the number of bits of the next part, which is 8 for all but the first. */
    for (; !(top & 0x80); top = (uint8_t)(top << 1)) drop >>= 1;
    do {
        uint16_t split = (uint16_t)(r->byte * drop);
        uint16_t moved = (uint16_t)(r->unit * drop);
        uint8_t part = (uint8_t)(split >> 8);
        r->unit = (uint8_t)moved;
        if (moved > 255) {
            r->unit = (uint8_t)(moved >> 8);
            split = (uint16_t)((uint16_t)next(r) * r->unit);
            part = (uint8_t)(part | split >> 8);
        }
        r->byte = (uint8_t)split;
        value = value << 8 | part;
        drop = 256;
    } while (--bytes);
    if (value <= max) return value;
    dunnage_reject(r, DUNNAGE_RANGE, field);
    return 0;
}

/* The same in 8 bits. */
uint8_t dunnage_get_small(dunnage_reader *r, uint8_t max, uint8_t field) { return (uint8_t)dunnage_get_index(r, max, field); }

/* `bits` bits, at most 64. */
static uint64_t get_bits(dunnage_reader *r, uint8_t bits, uint8_t field)
{
    uint64_t value = 0;
    if (bits > 32) {
        value = (uint64_t)dunnage_get_index(r, UINT32_MAX >> (64 - bits), field) << 32;
        bits = 32;
    }
    return value | dunnage_get_index(r, bits ? UINT32_MAX >> (32 - bits) : 0, field);
}

/* 6 bits for the size, then the rest. */
uint64_t dunnage_get_sized(dunnage_reader *r, uint8_t field)
{
    uint8_t size = (uint8_t)dunnage_get_index(r, 63, field);
    uint64_t value;
    if (!size) return 0;
    if (size < 63) return (uint64_t)1 << (size - 1) | get_bits(r, (uint8_t)(size - 1), field);
    value = get_bits(r, 64, field);
    if (!(value >> 62)) dunnage_reject(r, DUNNAGE_MALFORMED, field);
    return value;
}

/* Where double has no more than 32 bits, a binary64 that does not fit is out of range. */
double dunnage_get_float(dunnage_reader *r, uint8_t field)
{
    float narrow;
    uint32_t high = 0, low;
    if (!dunnage_get_index(r, 1, field)) {
        low = dunnage_get_index(r, UINT32_MAX, field);
        if ((low >> 23 & 0xff) == 0xff) {
            dunnage_reject(r, DUNNAGE_RANGE, field);
            return 0;
        }
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    high = dunnage_get_index(r, UINT32_MAX, field);
    low = dunnage_get_index(r, UINT32_MAX, field);
    if ((high >> 20 & 0x7ff) == 0x7ff) {
        dunnage_reject(r, DUNNAGE_RANGE, field);
        return 0;
    }
    if (is_single(high, low)) dunnage_reject(r, DUNNAGE_MALFORMED, field);
#if DBL_MANT_DIG > FLT_MANT_DIG
    double value;
    uint64_t bits = (uint64_t)high << 32 | low;
    memcpy(&value, &bits, sizeof value);
    return value;
#else
    dunnage_reject(r, DUNNAGE_RANGE, field);
    return 0;
#endif
}

/* Text of `min` to `max` characters; U+0000, which C text cannot hold, is out of range. */
void dunnage_get_text(dunnage_reader *r, char *text, uint16_t min, uint16_t max, uint8_t field)
{
    uint16_t count = (uint16_t)(min + dunnage_get_index(r, (uint32_t)(max - min), field));
    bool ascii = !count || !dunnage_get_index(r, 1, field), plain = !ascii;
    for (; count; count--) {
        uint8_t lead = (uint8_t)dunnage_get_index(r, ascii ? 127 : 255, field), size = 1;
        text[0] = (char)lead;
        if (lead >= 0x80) {
            plain = false;
            size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            for (uint8_t i = 1; i < size && lead >= 0xc2 && lead <= 0xf4; i++) text[i] = (char)dunnage_get_index(r, 255, field);
        }
        text[size] = 0;
        if (utf8_size(text) != size || !lead) {
            dunnage_reject(r, lead ? DUNNAGE_MALFORMED : DUNNAGE_RANGE, field);
            break;
        }
        text += size;
    }
    if (plain) dunnage_reject(r, DUNNAGE_MALFORMED, field);
    *text = 0;
}

/* Text of ASCII alone: where the schema allows nothing else, other text is out of range. */
void dunnage_get_ascii(dunnage_reader *r, char *text, uint16_t min, uint16_t max, uint8_t field)
{
    uint16_t count = (uint16_t)(min + dunnage_get_index(r, (uint32_t)(max - min), field));
    if (count && dunnage_get_index(r, 1, field)) {
        dunnage_reject(r, DUNNAGE_RANGE, field);
        count = 0;
    }
    for (; count; count--) {
        *text = (char)dunnage_get_index(r, 127, field);
        if (!*text) {
            dunnage_reject(r, DUNNAGE_RANGE, field);
            break;
        }
        text++;
    }
    *text = 0;
}

/* Where the machine has 8 bits, a division of 32 bits takes many times as long as one of each byte by multiplications. */
#ifndef BYTEWISE
#define BYTEWISE (UINT_MAX == 0xffff)
#endif
#if BYTEWISE
typedef uint8_t dividend[4]; /* the highest byte first */
#else
typedef uint32_t dividend[1];
#endif

/* Divides by `radix`, of which 65536 has `inverse`, and gives the remainder. */
static uint8_t divide(dividend value, uint8_t radix, uint16_t inverse)
{
#if BYTEWISE
    uint8_t upper = (uint8_t)(inverse >> 8), lower = (uint8_t)inverse, left = 4;
    uint8_t high = 0;
    for (; left > 1 && !*value; left--) value++;
    do {
        uint8_t low = *value, quotient;
        uint16_t sum = (uint16_t)((uint16_t)high * lower), rest;
        sum = (uint16_t)(sum + (uint16_t)low * upper);
        quotient = (uint8_t)(high * upper + (uint8_t)(sum >> 8)); /* at most 2 too small */
        rest = (uint16_t)((uint16_t)(high << 8 | low) - (uint16_t)quotient * radix);
        for (; rest >= radix; rest = (uint16_t)(rest - radix)) quotient++;
        *value++ = quotient;
        high = (uint8_t)rest;
    } while (--left);
    return high;
#else
    uint8_t remainder = (uint8_t)(*value % radix);
    (void)inverse;
    *value /= radix;
    return remainder;
#endif
}

/* Text of a pattern; `inverses` has 65536 / radix for each segment. Each character's place holds the number of its segment, until
 * the character is known. */
void dunnage_get_pattern(dunnage_reader *r, char *text, const dunnage_segment *segments, const uint16_t *inverses, uint8_t count, uint8_t field)
{
    char *end = text;
    for (uint8_t i = 0; i < count; i++) {
        uint16_t min = FLASH_16(segments[i].min), max = FLASH_16(segments[i].max);
        for (uint16_t left = (uint16_t)(min + dunnage_get_index(r, (uint32_t)(max - min), field)); left; left--) *end++ = (char)i;
    }
    *end = 0;
    while (text < end) {
        char *next_group = text, *at;
        uint32_t product = 1, index;
        dividend value;
        for (; next_group < end; next_group++) {
            const dunnage_segment *s = &segments[(uint8_t)*next_group];
            if (product > FLASH_32(s->most)) break;
            product *= FLASH_8(s->radix);
        }
        index = dunnage_get_index(r, product - 1, field);
#if BYTEWISE
        for (uint8_t i = 4; i; index >>= 8) value[--i] = (uint8_t)index;
#else
        value[0] = index;
#endif
        for (at = next_group; at > text;) {
            uint8_t place = (uint8_t)*--at;
            const dunnage_segment *s = &segments[place];
            const uint8_t *range = FLASH_POINTER(s->ranges);
            uint8_t radix = FLASH_8(s->radix), digit = 0, last;
            if (radix > 1) digit = divide(value, radix, FLASH_16(inverses[place]));
            for (; digit > (last = FLASH_8(range[1])); range += 2) digit = (uint8_t)(digit - last - 1);
            *at = (char)(FLASH_8(range[0]) + digit);
        }
        text = next_group;
    }
}

/* Whether text that a NUL ends has `min` to `max` characters, all ASCII. */
bool dunnage_has_length(const char *text, uint16_t min, uint16_t max)
{
    uint16_t size = 0;
    while (text[size] && size <= max) size++;
    return size >= min && size <= max;
}

/* ---- Check -------------------------------------------------------------------------------------------------------------------
 * A CRC that is seeded with the layout's fingerprint: a message of another layout does not pass. */

static uint16_t check_of(const uint8_t *at, const uint8_t *end, uint16_t seed, uint16_t polynomial)
{
    uint16_t sum = seed;
    while (at != end) {
        uint8_t bit;
        sum = (uint16_t)(sum ^ (uint16_t)((uint16_t)*at++ << 8));
        for (bit = 0; bit < 8; bit++) sum = (uint16_t)((uint16_t)(sum << 1) ^ (sum & 0x8000u ? polynomial : 0u));
    }
    return sum;
}

size_t dunnage_end_writing_checked(dunnage_writer *w, const uint8_t *buffer, dunnage_fault *fault, uint16_t seed, uint16_t polynomial, uint8_t bytes)
{
    uint16_t sum;
    put_last(w);
    sum = check_of(buffer, w->at, seed, polynomial);
    for (; bytes; bytes--) {
        if (w->at == w->end) {
            dunnage_refuse(w, DUNNAGE_TRUNCATED, MESSAGE);
            break;
        }
        *w->at++ = (uint8_t)(sum >> 8);
        sum = (uint16_t)(sum << 8);
    }
    return written(w, buffer, fault);
}

bool dunnage_end_checked(dunnage_reader *r, const uint8_t *bytes, size_t size, uint16_t seed, uint16_t polynomial, uint8_t check)
{
    const uint8_t *end = bytes;
    uint16_t sum;
    end_message(r);
    if (size <= check) {
        r->error = DUNNAGE_TRUNCATED;
        r->field = MESSAGE;
        return false;
    }
    end += size - check;
    sum = check_of(bytes, end, seed, polynomial);
    for (; check; check--) {
        if (*end++ != (uint8_t)(sum >> 8)) {
            if (r->error != DUNNAGE_TRUNCATED) r->error = DUNNAGE_MALFORMED;
            r->field = MESSAGE;
            return false;
        }
        sum = (uint16_t)(sum << 8);
    }
    return true;
}
