/* Converts PSON to JSON text in one loop over dn_next. The only state is whether a comma is due. */
#include "dn_internal.h"
#include "dn_json.h"

typedef struct {
    dn_sink_fn take;
    void *context;
    bool failed;
    uint8_t used;
    uint8_t chunk[32]; /* must hold at least one number */
} output;

static void flush(output *o)
{
    if (o->used && !o->failed) o->failed = !o->take(o->context, o->chunk, o->used);
    o->used = 0;
}

/* Makes room for `size` bytes, and returns their address. The caller adds them to o->used. */
static char *reserve(output *o, uint8_t size)
{
    if (o->used + size > (int)sizeof o->chunk) flush(o);
    return (char *)o->chunk + o->used;
}

static void put(output *o, char c)
{
    *reserve(o, 1) = c;
    o->used++;
}

/* `word` is a literal, on AVR in flash. */
static void put_word(output *o, const char *word)
{
#if defined(__AVR__)
    for (char c; (c = (char)pgm_read_byte(word)) != 0; word++) put(o, c);
#else
    while (*word) put(o, *word++);
#endif
}

static char hex_digit(uint8_t digit)
{
    return (char)(digit < 10 ? '0' + digit : 'a' - 10 + digit);
}

static void put_text(output *o, const char *text, size_t size)
{
    put(o, '"');
    while (size-- && !o->failed) {
        char c = *text++;
        char escape = 0;
        switch (c) {
        case '"':
        case '\\': escape = c; break;
        case '\b': escape = 'b'; break;
        case '\f': escape = 'f'; break;
        case '\n': escape = 'n'; break;
        case '\r': escape = 'r'; break;
        case '\t': escape = 't'; break;
        default:
            if ((uint8_t)c < 0x20) {
                put_word(o, DN_LITERAL("\\u00"));
                put(o, hex_digit((uint8_t)c >> 4));
                c = hex_digit(c & 15);
            }
        }
        if (escape) {
            put(o, '\\');
            c = escape;
        }
        put(o, c);
    }
    put(o, '"');
}

static void put_float(output *o, dn_reader *r)
{
    /* Does not call dn_get_double, which rejects most binary64 where double has 32 bits. */
    const uint8_t *at = r->item + 1;
    uint32_t low = dn__load32(at);
    uint32_t high = low;
    uint32_t infinity = 0x7f800000;
    if (r->type == DN_DOUBLE) {
        high = dn__load32(at + 4);
        infinity = 0x7ff00000;
    }
    if ((high & infinity) == infinity) {
        dn__fail(r, DN_RANGE);
        return;
    }
    char *to = reserve(o, DN__NUMBER_TEXT);
    uint8_t size = r->type == DN_DOUBLE ? dn__print_double((uint64_t)high << 32 | low, to) : dn__print_float(low, to);
    o->used = (uint8_t)(o->used + size);
}

static void put_integer(output *o, dn_reader *r)
{
    bool negative = r->type == DN_NEGATIVE;
    uint64_t magnitude = negative ? 0 - (uint64_t)dn_get_i64(r) : dn_get_u64(r);
    char *to = reserve(o, DN__NUMBER_TEXT);
    o->used = (uint8_t)(o->used + dn__print_integer(magnitude, negative, to));
}

bool dn_json_write(dn_reader *r, dn_sink_fn take, void *context)
{
    output o;
    o.take = take;
    o.context = context;
    o.failed = false;
    o.used = 0;
    uint8_t depth = r->depth;
    bool comma = false;
    bool key;
    /* A key is next, or nothing is left. */
    bool no_value = r->left < DN__ITEM || dn__key_due(r);
    do {
        bool map = (r->left & DN__MAP) != 0;
        dn_type type = dn_next(r);
        if (no_value) dn__fail(r, DN_WRONG_TYPE);
        if (r->error) return false;
        key = type == DN_KEY;
        if (comma && type != DN_END) put(&o, ',');
        comma = !key;
        switch (type) {
        case DN_END: put(&o, map ? '}' : ']'); break;
        case DN_KEY:
        case DN_TEXT:
            put_text(&o, dn_chars(r), (size_t)r->n);
            if (key) put(&o, ':');
            break;
        case DN_UINT:
        case DN_NEGATIVE: put_integer(&o, r); break;
        case DN_FLOAT:
        case DN_DOUBLE: put_float(&o, r); break;
        case DN_BOOL: put_word(&o, r->n ? DN_LITERAL("true") : DN_LITERAL("false")); break;
        case DN_NULL: put_word(&o, DN_LITERAL("null")); break;
        case DN_MAP:
        case DN_ARRAY:
            put(&o, type == DN_MAP ? '{' : '[');
            comma = false;
            break;
        default: dn__fail(r, DN_WRONG_TYPE); /* bytes */
        }
    } while (!r->error && !o.failed && (key || r->depth != depth));
    if (!r->error) flush(&o);
    return !r->error && !o.failed;
}
