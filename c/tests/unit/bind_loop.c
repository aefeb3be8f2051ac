/* Compares dn_bind with a hand-written loop, on random and damaged messages: both must produce the same struct or the same
 * error. */
#include "dn_bind.h"

#include "message.h"

typedef struct {
    uint32_t present;
    int8_t x;
    float y;
} point;

typedef struct {
    uint32_t present;
    char name[6];
    uint8_t u8;
    int16_t i16;
    uint32_t u32;
    float f;
    bool b;
    dn_view text;
    point at;
    uint16_t data[3];
    uint16_t data_count;
    point path[2];
    uint16_t path_count;
} sample;

enum { NAME, U8, I16, U32, FLOAT, BOOL, TEXT, AT, DATA, PATH, KEYS };

DN_TABLE(point_table, point, present,
    DN_FIELD(x, "x", i8), DN_FIELD(y, "y", float));
DN_TABLE(sample_table, sample, present,
    DN_FIELD(name, "name", chars),
    DN_FIELD(u8, "u", u8),
    DN_FIELD(i16, "i", i16),
    DN_FIELD(u32, "long", u32),
    DN_FIELD(f, "float", float),
    DN_FIELD(b, "", bool),
    DN_FIELD(text, "text", text),
    DN_FIELD_STRUCT(at, "at", point_table),
    DN_FIELD_ARRAY(data, data_count, "data", u16),
    DN_FIELD_STRUCTS(path, path_count, "path", point_table));

/* ---- By hand ---- */

/* An error that the loop itself finds, not the reader. */
static dn_fault own;

static bool fail_with(dn_reader *r, dn_error kind)
{
    own.kind = kind;
    own.offset = (size_t)(r->item - message);
    return false;
}

/* Sets the present bit of the field. Fails if it was already set. */
static bool set_present(dn_reader *r, uint32_t *present, uint8_t row)
{
    if (*present & DN_BIT(row)) return fail_with(r, DN_MALFORMED);
    *present |= DN_BIT(row);
    return true;
}

static bool read_point(dn_reader *r, point *p)
{
    p->present = 0;
    dn_read_map(r);
    while (dn_read_key(r)) {
        if (DN_KEY_IS(r, "x")) {
            if (!set_present(r, &p->present, 0)) return false;
            p->x = dn_read_i8(r);
        } else if (DN_KEY_IS(r, "y")) {
            if (!set_present(r, &p->present, 1)) return false;
            p->y = dn_read_float(r);
        } else dn_skip(r);
    }
    return !r->error;
}

/* The array has an element more than fits. */
static bool reject_extra_element(dn_reader *r)
{
    return dn_next(r) ? fail_with(r, DN_RANGE) : false;
}

static bool read_value(dn_reader *r, sample *s, uint8_t row)
{
    switch (row) {
    case NAME:
        dn_read_text(r);
        dn_copy_text(r, s->name, sizeof s->name);
        break;
    case U8: s->u8 = dn_read_u8(r); break;
    case I16: s->i16 = dn_read_i16(r); break;
    case U32: s->u32 = dn_read_u32(r); break;
    case FLOAT: s->f = dn_read_float(r); break;
    case BOOL: s->b = dn_read_bool(r); break;
    case TEXT:
        if (!dn_read_text(r)) return false;
        s->text.data = (const uint8_t *)dn_chars(r);
        s->text.size = (size_t)r->n;
        break;
    case AT: return read_point(r, &s->at);
    case DATA:
        dn_read_array(r);
        for (s->data_count = 0; dn_more(r); s->data_count++) {
            if (s->data_count == 3) return reject_extra_element(r);
            s->data[s->data_count] = dn_read_u16(r);
        }
        break;
    default:
        dn_read_array(r);
        for (s->path_count = 0; dn_more(r); s->path_count++) {
            if (s->path_count == 2) return reject_extra_element(r);
            if (!read_point(r, &s->path[s->path_count])) return false;
        }
    }
    return !r->error;
}

static bool read_sample(dn_reader *r, sample *s)
{
    s->present = 0;
    dn_read_map(r);
    while (dn_read_key(r)) {
        uint8_t row = DN_KEY_IS(r, "name") ? NAME : DN_KEY_IS(r, "u") ? U8 : DN_KEY_IS(r, "i") ? I16 : DN_KEY_IS(r, "long") ? U32
                    : DN_KEY_IS(r, "float") ? FLOAT : DN_KEY_IS(r, "") ? BOOL : DN_KEY_IS(r, "text") ? TEXT : DN_KEY_IS(r, "at") ? AT
                    : DN_KEY_IS(r, "data") ? DATA : DN_KEY_IS(r, "path") ? PATH : KEYS;
        if (row == KEYS) dn_skip(r);
        else if (!set_present(r, &s->present, row) || !read_value(r, s, row)) return false;
    }
    return dn_done(r);
}

/* ---- Random messages ---- */

static uint32_t seed = 4559;
static size_t size;

static uint32_t random_below(uint32_t n) { return message_random(&seed) % n; }

static void put_byte(uint32_t byte) { message[size++] = (uint8_t)byte; }

/* Writes a header of `type`, sometimes with an unnecessary varint. */
static void put_header(uint32_t type, uint32_t n)
{
    if (n < 31 && random_below(16)) put_byte(type << 5 | n);
    else {
        put_byte(type << 5 | 31);
        for (; n > 0x7f; n >>= 7) put_byte(n | 0x80);
        if (random_below(16)) put_byte(n);
        else {
            put_byte(n | 0x80);
            put_byte(0);
        }
    }
}

static void put_chars(uint32_t type, const char *text)
{
    put_header(type, (uint32_t)strlen(text));
    while (*text) put_byte((uint8_t)*text++);
}

static void put_integer(uint32_t type) { put_header(type, message_random(&seed) >> random_below(32)); }

static void put_float(void)
{
    uint32_t bits = random_below(2) ? message_random(&seed) : (0x40000000 | random_below(0x1000) << 12);
    put_byte(0x40);
    for (unsigned i = 0; i < 4; i++) put_byte(bits >> 8 * i);
}

static void put_any(unsigned level)
{
    static const char *const texts[] = {"", "a", "name", "longer", "\xc3\xa9", "\xff", "x"};
    uint32_t n;
    switch (random_below(level < 3 ? 9 : 7)) {
    case 0: put_integer(0); break;
    case 1: put_integer(1); break;
    case 2: put_float(); break;
    case 3: put_byte(0x60 | random_below(3)); break;
    case 4: put_chars(4, texts[random_below(7)]); break;
    case 5: put_chars(5, texts[random_below(7)]); break;
    case 6:
        put_byte(0x41);
        n = random_below(0x1000);
        for (unsigned i = 0; i < 4; i++) put_byte(0);
        put_byte(0); put_byte(n); put_byte(n >> 8 | 0x40); put_byte(0x40);
        break;
    case 7:
        n = random_below(4);
        put_header(7, n);
        while (n--) put_any(level + 1);
        break;
    default:
        n = random_below(3);
        put_header(6, n);
        while (n--) {
            put_chars(4, texts[random_below(7)]);
            put_any(level + 1);
        }
    }
}

static void put_point(void)
{
    uint32_t entries = random_below(4);
    put_header(6, entries);
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t kind = random_below(20) ? i : random_below(3);
        put_chars(4, kind == 0 ? "x" : kind == 1 ? "y" : "z");
        if (random_below(30) == 0) put_any(1);
        else if (kind == 0) put_header(random_below(2), random_below(120));
        else put_float();
    }
}

static void put_value(uint8_t row)
{
    uint32_t n;
    switch (row) {
    case NAME:
    case TEXT: put_chars(4, random_below(20) ? "gps" : "far too long"); break;
    case U8: put_header(0, random_below(250)); break;
    case I16: put_header(random_below(2), random_below(32000)); break;
    case U32: put_integer(0); break;
    case FLOAT: put_float(); break;
    case BOOL: put_byte(0x60 | random_below(2)); break;
    case AT: put_point(); break;
    case DATA:
        n = random_below(10) ? random_below(4) : 4;
        put_header(7, n);
        while (n--) put_header(0, random_below(70000));
        break;
    default:
        n = random_below(10) ? random_below(3) : 3;
        put_header(7, n);
        while (n--) put_point();
    }
}

static void put_sample(void)
{
    static const char *const keys[] = {"name", "u", "i", "long", "float", "", "text", "at", "data", "path", "other"};
    uint8_t row = (uint8_t)random_below(KEYS);
    uint32_t entries = random_below(KEYS + 1);
    bool in_order = random_below(2);
    size = 0;
    put_header(6, entries);
    for (uint32_t i = 0; i < entries; i++) {
        bool other = random_below(10) == 0;
        put_chars(4, keys[other ? (uint8_t)KEYS : row]);
        if (other || random_below(60) == 0) put_any(0);
        else put_value(row);
        row = in_order || random_below(20) ? (uint8_t)((row + 1) % KEYS) : (uint8_t)random_below(KEYS);
        if (!in_order && !random_below(3)) row = (uint8_t)random_below(KEYS);
    }
}

static void damage_message(void)
{
    switch (random_below(6)) {
    case 0: message[random_below((uint32_t)size)] = (uint8_t)message_random(&seed); break;
    case 1: message[random_below((uint32_t)size)] ^= (uint8_t)(1u << random_below(8)); break;
    case 2: size = (size_t)random_below((uint32_t)size); break;
    case 3: put_byte(message_random(&seed)); break;
    default: break;
    }
}

static bool equal_points(const point *a, const point *b)
{
    return a->present == b->present && (!(a->present & 1) || a->x == b->x) && (!(a->present & 2) || memcmp(&a->y, &b->y, sizeof a->y) == 0);
}

static bool equal_samples(const sample *a, const sample *b)
{
    uint32_t p = a->present;
    if (p != b->present) return false;
    if (p & DN_BIT(NAME) && strcmp(a->name, b->name) != 0) return false;
    if (p & DN_BIT(U8) && a->u8 != b->u8) return false;
    if (p & DN_BIT(I16) && a->i16 != b->i16) return false;
    if (p & DN_BIT(U32) && a->u32 != b->u32) return false;
    if (p & DN_BIT(FLOAT) && memcmp(&a->f, &b->f, sizeof a->f) != 0) return false;
    if (p & DN_BIT(BOOL) && a->b != b->b) return false;
    if (p & DN_BIT(TEXT) && (a->text.data != b->text.data || a->text.size != b->text.size)) return false;
    if (p & DN_BIT(AT) && !equal_points(&a->at, &b->at)) return false;
    if (p & DN_BIT(DATA) && (a->data_count != b->data_count || memcmp(a->data, b->data, a->data_count * sizeof a->data[0]) != 0)) return false;
    if (p & DN_BIT(PATH)) {
        if (a->path_count != b->path_count) return false;
        for (uint16_t i = 0; i < a->path_count; i++)
            if (!equal_points(&a->path[i], &b->path[i])) return false;
    }
    return true;
}

#if defined(__AVR__)
enum { ROUNDS = 200, ROOM = 600 };
#else
enum { ROUNDS = 300000, ROOM = 4096 };
#endif

static void matches_handwritten_loop(void)
{
    unsigned kinds[DN_LIMIT + 1] = {0, 0, 0, 0, 0, 0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        message_allocate(ROOM);
        put_sample();
        damage_message();
        message_truncate(size);
        bool strict = random_below(4) == 0;
        sample by_table, by_loop;
        dn_reader a, b;
        dn_reader_init(&a, message, message_size);
        dn_reader_init(&b, message, message_size);
        bool bound, read;
        if (strict) {
            dn_reader_strict(&a);
            dn_reader_strict(&b);
            dn_read_struct(&a, &sample_table, &by_table);
            bound = dn_done(&a);
        } else bound = dn_bind(&a, message, message_size, &sample_table, &by_table);
        own.kind = DN_OK;
        read = read_sample(&b, &by_loop);
        dn_error kind = own.kind ? own.kind : b.error;
        size_t offset = own.kind ? own.offset : dn_error_offset(&b);
        kinds[kind]++;
        bool agree = bound == read && a.error == kind && (bound ? equal_samples(&by_table, &by_loop) : dn_error_offset(&a) == offset);
        if (!CHECK(agree)) {
            CHECK_EQ(a.error, kind);
            CHECK_EQ(dn_error_offset(&a), offset);
            CHECK_BYTES(message, message_size, "");
            return;
        }
    }
    /* Every kind of error occurred often enough for the comparison to be meaningful. */
    for (dn_error kind = DN_OK; kind < DN_LIMIT; kind++) CHECK(kinds[kind] > ROUNDS / 200);
}

int main(void)
{
    TEST(matches_handwritten_loop);
    free(message);
    return test_end("bind_loop");
}
