/* The input is a message: all ways to read it must agree, and an accepted message must survive being written again. */
#include "dn_bind.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dn_reader begin(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    if (strict) dn_reader_strict(&r);
    return r;
}

/* ---- Getters ------------------------------------------------------------------------------------------------------------------- */

/* Calls each getter on a copy of the reader, and compares the results. */
static void compare_getters(const dn_reader *r)
{
    dn_reader u64 = *r, i64 = *r, uint = *r, sint = *r, f32 = *r, f64 = *r, boolean = *r;
    uint64_t u = dn_get_u64(&u64);
    int64_t i = dn_get_i64(&i64);
    uint32_t n = dn_get_uint(&uint, UINT32_MAX);
    int32_t s = dn_get_int(&sint, INT32_MIN, INT32_MAX);
    float f = dn_get_float(&f32);
    double d = dn_get_double(&f64);
    bool b = dn_get_bool(&boolean);
    bool number = r->type >= DN_UINT && r->type <= DN_DOUBLE;
    dn_error other = number ? DN_RANGE : DN_WRONG_TYPE;

    REQUIRE(!u64.error || (u64.error == other && u == 0));
    REQUIRE(!i64.error || (i64.error == other && i == 0));
    REQUIRE(!uint.error || (uint.error == other && n == 0));
    REQUIRE(!sint.error || (sint.error == other && s == 0));
    REQUIRE(!f32.error || (f32.error == other && f == 0));
    REQUIRE(!f64.error || (f64.error == other && d == 0));
    REQUIRE(r->type == DN_BOOL ? !boolean.error : boolean.error == DN_WRONG_TYPE && !b);
    if (!number) return;

    REQUIRE(uint.error == (u64.error || u > UINT32_MAX ? DN_RANGE : DN_OK));
    REQUIRE(uint.error || n == u);
    REQUIRE(sint.error == (i64.error || i < INT32_MIN || i > INT32_MAX ? DN_RANGE : DN_OK));
    REQUIRE(sint.error || s == i);
    if (!u64.error && !i64.error) REQUIRE((uint64_t)i == u && i >= 0);
    if (!u64.error && i64.error) REQUIRE(u > INT64_MAX);
    if (!i64.error && !f64.error) REQUIRE(d == (double)i && (int64_t)d == i);
    if (!u64.error && !f64.error) REQUIRE(d == (double)u);
    if (!f32.error) REQUIRE(!f64.error && ((double)f == d || (f != f && d != d)));
    if (!f64.error && f32.error) REQUIRE((double)(float)d != d);
    if (r->type >= DN_FLOAT) REQUIRE(!f64.error);
}

/* ---- Ways to read -------------------------------------------------------------------------------------------------------------- */

static dn_fault read_by_next(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r = begin(message, size, strict);
    while (dn_next(&r) != DN_STOP) {
        REQUIRE(!r.error && r.at <= r.end && r.item <= r.at);
        if (r.type == DN_TEXT || r.type == DN_KEY) REQUIRE(dn_is_utf8(dn_chars(&r), (size_t)r.n));
        if (r.type >= DN_TEXT) compare_getters(&r);
    }
    REQUIRE(dn_next(&r) == DN_STOP);
    return fault_of(&r);
}

static dn_fault read_by_more(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r = begin(message, size, strict);
    uint32_t maps = 0; /* one bit per level, the innermost lowest */
    uint8_t depth = 0;
    do {
        if (depth && !(maps & 1 ? dn_read_key(&r) : dn_more(&r))) {
            maps >>= 1;
            depth--;
            continue;
        }
        dn_type type = dn_next(&r);
        if (type == DN_MAP || type == DN_ARRAY) {
            maps = maps << 1 | (type == DN_MAP);
            depth++;
        }
    } while (depth && !r.error);
    return fault_of(&r);
}

static dn_fault read_by_skip(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r = begin(message, size, strict);
    dn_skip(&r);
    return fault_of(&r);
}

/* Enters the outermost container, and leaves it. */
static dn_fault read_by_leave(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r = begin(message, size, strict);
    dn_type type = dn_next(&r);
    if (type == DN_MAP || type == DN_ARRAY) {
        dn_next(&r);
        if (r.depth) dn_leave(&r);
        if (r.depth) dn_leave(&r);
    }
    return fault_of(&r);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------------------- */

/* dn_find finds each key of a valid map, at its first position. */
static void check_find(const uint8_t *message, size_t size)
{
    dn_reader r = begin(message, size, false);
    if (!dn_read_map(&r)) return;
    dn_mark map = dn_mark_here(&r);
    for (uint8_t i = 0; i < 8 && dn_read_key(&r); i++) {
        dn_reader other = r;
        REQUIRE(dn_find(&other, &map, dn_chars(&r), (size_t)r.n));
        REQUIRE(other.at <= r.at && other.n == r.n && memcmp(dn_chars(&other), dn_chars(&r), (size_t)r.n) == 0);
        dn_leave(&other);
        REQUIRE(dn_done(&other));
        dn_skip(&r);
    }
    REQUIRE(!dn_find(&r, &map, "no such key, in any message", 27));
    REQUIRE(!r.error);
}

typedef struct {
    uint32_t present;
    int32_t a;
} inner;

typedef struct {
    uint32_t present;
    bool b;
    uint64_t u;
    double f;
    char t[6];
    dn_view v;
    dn_view x;
    inner n;
    uint8_t a[3];
    uint16_t a_count;
    inner s[2];
    uint16_t s_count;
} outer;

DN_TABLE(inner_table, inner, present,
    DN_FIELD(a, "a", i32));
DN_TABLE(outer_table, outer, present,
    DN_FIELD(b, "b", bool),
    DN_FIELD(u, "u", u64),
    DN_FIELD(f, "f", double),
    DN_FIELD(t, "t", chars),
    DN_FIELD(v, "v", bytes),
    DN_FIELD(x, "k", text),
    DN_FIELD_STRUCT(n, "n", inner_table),
    DN_FIELD_ARRAY(a, a_count, "a", u8),
    DN_FIELD_STRUCTS(s, s_count, "s", inner_table));

/* Filling a struct finds the faults of the message, or an earlier error. */
static void bind_struct(const uint8_t *message, size_t size, dn_fault lenient)
{
    dn_reader r;
    outer *out = (outer *)copy_exact(&(outer){0}, sizeof(outer));
    outer again = {0};
    bool filled = dn_bind(&r, message, size, &outer_table, out);
    REQUIRE(filled == !r.error);
    if (filled) {
        REQUIRE(lenient.kind == DN_OK);
        REQUIRE(memchr(out->t, 0, sizeof out->t) != NULL && out->a_count <= 3 && out->s_count <= 2);
        REQUIRE(!(out->present & DN_BIT(4)) || out->v.data + out->v.size <= message + size);
    } else if (lenient.kind) {
        REQUIRE(dn_error_offset(&r) <= lenient.offset);
    } else {
        REQUIRE(r.error != DN_TRUNCATED && r.error != DN_LIMIT);
    }
    dn_reader one;
    dn_reader_init(&one, message, size);
    dn_read_struct(&one, &outer_table, &again);
    dn_done(&one);
    REQUIRE(one.error == r.error && (!one.error || dn_error_offset(&one) == dn_error_offset(&r)));
    REQUIRE(again.present == out->present);
    free(out);
}

/* ---- Messages -------------------------------------------------------------------------------------------------------------- */

/* A message that dn_check accepts can be written again. The result is identical exactly if the strict mode accepts the message. */
static void write_again(const uint8_t *message, size_t size, bool canonical)
{
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    rewrite(&w, message, size);
    size_t needed = dn_written(&w);
    REQUIRE(!w.error && needed <= 3 * size); /* a large integer in the form of a float is shorter, and not canonical */
    uint8_t *again = (uint8_t *)malloc(needed);
    REQUIRE(again != NULL);
    dn_writer_init(&w, again, needed);
    rewrite(&w, message, size);
    REQUIRE(!w.error && dn_written(&w) == needed);
    REQUIRE(dn_check(again, needed, true).kind == DN_OK);
    REQUIRE(canonical == (needed == size && memcmp(again, message, size) == 0));
    free(again);
}

static void check_prefixes(const uint8_t *message, size_t size)
{
    for (size_t end = 0; end < size; end += size / 32 + 1) {
        uint8_t *prefix = copy_exact(message, end);
        dn_fault fault = dn_check(prefix, end, false);
        REQUIRE(fault.kind == DN_TRUNCATED && fault.offset == end);
        free(prefix);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *message = copy_exact(data, size);
    dn_fault lenient = read_by_next(message, size, false);
    for (int strict = 0; strict < 2; strict++) {
        dn_fault items = read_by_next(message, size, strict);
        REQUIRE(same_fault(items, read_by_more(message, size, strict)));
        REQUIRE(same_fault(items, read_by_skip(message, size, strict)));
        REQUIRE(same_fault(items, read_by_leave(message, size, strict)));
        dn_fault whole = dn_check(message, size, strict);
        /* Only dn_check detects duplicate keys, and integers that no type holds. */
        if (!same_fault(whole, items)) {
            REQUIRE(whole.kind == DN_MALFORMED || whole.kind == DN_RANGE);
            REQUIRE(items.kind == DN_OK || whole.offset < items.offset);
        }
        REQUIRE(items.kind != DN_TRUNCATED || items.offset == size);
        REQUIRE(items.kind == DN_OK || items.offset <= size);
        if (strict && lenient.kind) REQUIRE(items.kind && items.offset <= lenient.offset);
    }
    if (!lenient.kind) check_find(message, size);
    bind_struct(message, size, lenient);
    if (!dn_check(message, size, false).kind) {
        write_again(message, size, !dn_check(message, size, true).kind);
        check_prefixes(message, size);
    }
    free(message);
    return 0;
}
