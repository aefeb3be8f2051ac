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

static void print_key(char key)
{
    PRINT(" s");
    print_hex((const uint8_t *)&key, 1);
    port_put(' ');
}

static void print_inner(const inner *in)
{
    port_put('m');
    print_unsigned(bits_set(in->present));
    if (in->present & DN_BIT(0)) print_key('x'), print_signed(in->x);
    if (in->present & DN_BIT(1)) print_key('y'), print_signed(in->y);
}

static void print_arrays(const outer *out)
{
    if (out->present & DN_BIT(9)) {
        print_key('a');
        port_put('a');
        print_unsigned(out->a_count);
        for (uint16_t i = 0; i < out->a_count; i++) port_put(' '), print_signed(out->a[i]);
    }
    if (out->present & DN_BIT(10)) {
        print_key('s');
        port_put('a');
        print_unsigned(out->s_count);
        for (uint16_t i = 0; i < out->s_count; i++) port_put(' '), print_inner(&out->s[i]);
    }
}

static void print_outer(const outer *out)
{
    PRINT("ok m");
    print_unsigned(bits_set(out->present));
    if (out->present & DN_BIT(0)) print_key('b'), port_put(out->b ? 't' : 'f');
    if (out->present & DN_BIT(1)) print_key('u'), print_signed(out->u);
    if (out->present & DN_BIT(2)) print_key('i'), print_signed(out->i);
    if (out->present & DN_BIT(3)) print_key('l'), print_signed(out->l);
    if (out->present & DN_BIT(4)) print_key('q'), print_signed(out->q);
    if (out->present & DN_BIT(5)) print_key('f'), print_double(bits_of_float(out->f));
    if (out->present & DN_BIT(6)) {
        print_key('t');
        port_put('s');
        print_hex((const uint8_t *)out->t, strlen(out->t));
    }
    if (out->present & DN_BIT(7)) {
        print_key('v');
        port_put('b');
        print_hex(out->v.data, out->v.size);
    }
    if (out->present & DN_BIT(8)) print_key('n'), print_inner(&out->n);
    print_arrays(out);
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
        PRINT("fault dn_bind's answer is not its error");
        return;
    }
    if (r.error) {
        print_error(r.error, dn_error_offset(&r));
        return;
    }
    print_outer(&out);
}
