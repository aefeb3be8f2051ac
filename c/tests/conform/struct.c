/* Requests that fill the struct of conform/README.md. */
#include "conform.h"
#include "dn_bind.h"

typedef struct {
    uint32_t present;
    uint16_t x;
    int8_t y;
} inner;

typedef struct {
    uint32_t present;
    bool b;
    uint8_t u;
    int16_t i;
    uint32_t l;
    int64_t q;
    float f;
    char t[8];
    dn_view v;
    inner n;
    int8_t a[4];
    uint16_t a_count;
    inner s[2];
    uint16_t s_count;
} outer;

DN_TABLE(inner_table, inner, present,
    DN_FIELD(x, "x", u16),
    DN_FIELD(y, "y", i8));

DN_TABLE(outer_table, outer, present,
    DN_FIELD(b, "b", bool),
    DN_FIELD(u, "u", u8),
    DN_FIELD(i, "i", i16),
    DN_FIELD(l, "l", u32),
    DN_FIELD(q, "q", i64),
    DN_FIELD(f, "f", float),
    DN_FIELD(t, "t", chars),
    DN_FIELD(v, "v", bytes),
    DN_FIELD_STRUCT(n, "n", inner_table),
    DN_FIELD_ARRAY(a, a_count, "a", i8),
    DN_FIELD_STRUCTS(s, s_count, "s", inner_table));

static uint8_t bits_set(uint32_t bits)
{
    uint8_t count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

static void say_key(char key)
{
    SAY(" s");
    say_hex((const uint8_t *)&key, 1);
    port_put(' ');
}

static void say_inner(const inner *in)
{
    port_put('m');
    say_unsigned(bits_set(in->present));
    if (in->present & DN_BIT(0)) say_key('x'), say_signed(in->x);
    if (in->present & DN_BIT(1)) say_key('y'), say_signed(in->y);
}

static void say_lists(const outer *out)
{
    if (out->present & DN_BIT(9)) {
        say_key('a');
        port_put('a');
        say_unsigned(out->a_count);
        for (uint16_t i = 0; i < out->a_count; i++) port_put(' '), say_signed(out->a[i]);
    }
    if (out->present & DN_BIT(10)) {
        say_key('s');
        port_put('a');
        say_unsigned(out->s_count);
        for (uint16_t i = 0; i < out->s_count; i++) port_put(' '), say_inner(&out->s[i]);
    }
}

static void say_outer(const outer *out)
{
    SAY("ok m");
    say_unsigned(bits_set(out->present));
    if (out->present & DN_BIT(0)) say_key('b'), port_put(out->b ? 't' : 'f');
    if (out->present & DN_BIT(1)) say_key('u'), say_signed(out->u);
    if (out->present & DN_BIT(2)) say_key('i'), say_signed(out->i);
    if (out->present & DN_BIT(3)) say_key('l'), say_signed(out->l);
    if (out->present & DN_BIT(4)) say_key('q'), say_signed(out->q);
    if (out->present & DN_BIT(5)) say_key('f'), say_double(bits_of_float(out->f));
    if (out->present & DN_BIT(6)) {
        say_key('t');
        port_put('s');
        say_hex((const uint8_t *)out->t, strlen(out->t));
    }
    if (out->present & DN_BIT(7)) {
        say_key('v');
        port_put('b');
        say_hex(out->v.data, out->v.size);
    }
    if (out->present & DN_BIT(8)) say_key('n'), say_inner(&out->n);
    say_lists(out);
}

void fill_struct(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r;
    outer out;
    memset(&out, 0xa5, sizeof out);
    if (strict) {
        dn_reader_init(&r, message, size);
        dn_reader_strict(&r);
        dn_read_struct(&r, &outer_table, &out);
        dn_done(&r);
    } else if (dn_bind(&r, message, size, &outer_table, &out) != !r.error) {
        SAY("fault dn_bind's answer is not its error");
        return;
    }
    if (r.error) {
        say_error(r.error, dn_error_offset(&r));
        return;
    }
    say_outer(&out);
}
