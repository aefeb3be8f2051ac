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

static bool found(dn_reader *r, dn_error kind)
{
    own.kind = kind;
    own.offset = (size_t)(r->item - message);
    return false;
}

/* Sets the present bit of the field. Fails if it was already set. */
static bool mark(dn_reader *r, uint32_t *present, uint8_t row)
{
    if (*present & DN_BIT(row)) return found(r, DN_MALFORMED);
    *present |= DN_BIT(row);
    return true;
}

static bool hand_point(dn_reader *r, point *p)
{
    p->present = 0;
    dn_read_map(r);
    while (dn_read_key(r)) {
        if (DN_KEY_IS(r, "x")) {
            if (!mark(r, &p->present, 0)) return false;
            p->x = dn_read_i8(r);
        } else if (DN_KEY_IS(r, "y")) {
            if (!mark(r, &p->present, 1)) return false;
            p->y = dn_read_float(r);
        } else dn_skip(r);
    }
    return !r->error;
}

/* The array has an element more than fits. */
static bool over(dn_reader *r)
{
    return dn_next(r) ? found(r, DN_RANGE) : false;
}

static bool hand_value(dn_reader *r, sample *s, uint8_t row)
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
    case AT: return hand_point(r, &s->at);
    case DATA:
        dn_read_array(r);
        for (s->data_count = 0; dn_more(r); s->data_count++) {
            if (s->data_count == 3) return over(r);
            s->data[s->data_count] = dn_read_u16(r);
        }
        break;
    default:
        dn_read_array(r);
        for (s->path_count = 0; dn_more(r); s->path_count++) {
            if (s->path_count == 2) return over(r);
            if (!hand_point(r, &s->path[s->path_count])) return false;
        }
    }
    return !r->error;
}

static bool hand_sample(dn_reader *r, sample *s)
{
    s->present = 0;
    dn_read_map(r);
    while (dn_read_key(r)) {
        uint8_t row = DN_KEY_IS(r, "name") ? NAME : DN_KEY_IS(r, "u") ? U8 : DN_KEY_IS(r, "i") ? I16 : DN_KEY_IS(r, "long") ? U32
                    : DN_KEY_IS(r, "float") ? FLOAT : DN_KEY_IS(r, "") ? BOOL : DN_KEY_IS(r, "text") ? TEXT : DN_KEY_IS(r, "at") ? AT
                    : DN_KEY_IS(r, "data") ? DATA : DN_KEY_IS(r, "path") ? PATH : KEYS;
        if (row == KEYS) dn_skip(r);
        else if (!mark(r, &s->present, row) || !hand_value(r, s, row)) return false;
    }
    return dn_done(r);
}

/* ---- Random messages ---- */

static uint32_t seed = 4559;
static size_t size;

static uint32_t below(uint32_t n) { return message_random(&seed) % n; }

static void put(uint32_t byte) { message[size++] = (uint8_t)byte; }

/* Writes a header of `type`, sometimes with an unnecessary varint. */
static void put_header(uint32_t type, uint32_t n)
{
    if (n < 31 && below(16)) put(type << 5 | n);
    else {
        put(type << 5 | 31);
        for (; n > 0x7f; n >>= 7) put(n | 0x80);
        if (below(16)) put(n);
        else {
            put(n | 0x80);
            put(0);
        }
    }
}

static void put_chars(uint32_t type, const char *text)
{
    put_header(type, (uint32_t)strlen(text));
    while (*text) put((uint8_t)*text++);
}

static void put_integer(uint32_t type) { put_header(type, message_random(&seed) >> below(32)); }

static void put_float(void)
{
    uint32_t bits = below(2) ? message_random(&seed) : (0x40000000 | below(0x1000) << 12);
    put(0x40);
    for (unsigned i = 0; i < 4; i++) put(bits >> 8 * i);
}

static void put_any(unsigned level)
{
    static const char *const texts[] = {"", "a", "name", "longer", "\xc3\xa9", "\xff", "x"};
    uint32_t n;
    switch (below(level < 3 ? 9 : 7)) {
    case 0: put_integer(0); break;
    case 1: put_integer(1); break;
    case 2: put_float(); break;
    case 3: put(0x60 | below(3)); break;
    case 4: put_chars(4, texts[below(7)]); break;
    case 5: put_chars(5, texts[below(7)]); break;
    case 6:
        put(0x41);
        n = below(0x1000);
        for (unsigned i = 0; i < 4; i++) put(0);
        put(0); put(n); put(n >> 8 | 0x40); put(0x40);
        break;
    case 7:
        n = below(4);
        put_header(7, n);
        while (n--) put_any(level + 1);
        break;
    default:
        n = below(3);
        put_header(6, n);
        while (n--) {
            put_chars(4, texts[below(7)]);
            put_any(level + 1);
        }
    }
}

static void put_point(void)
{
    uint32_t entries = below(4);
    put_header(6, entries);
    for (uint32_t i = 0; i < entries; i++) {
        uint32_t kind = below(20) ? i : below(3);
        put_chars(4, kind == 0 ? "x" : kind == 1 ? "y" : "z");
        if (below(30) == 0) put_any(1);
        else if (kind == 0) put_header(below(2), below(120));
        else put_float();
    }
}

static void put_value(uint8_t row)
{
    uint32_t n;
    switch (row) {
    case NAME:
    case TEXT: put_chars(4, below(20) ? "gps" : "far too long"); break;
    case U8: put_header(0, below(250)); break;
    case I16: put_header(below(2), below(32000)); break;
    case U32: put_integer(0); break;
    case FLOAT: put_float(); break;
    case BOOL: put(0x60 | below(2)); break;
    case AT: put_point(); break;
    case DATA:
        n = below(10) ? below(4) : 4;
        put_header(7, n);
        while (n--) put_header(0, below(70000));
        break;
    default:
        n = below(10) ? below(3) : 3;
        put_header(7, n);
        while (n--) put_point();
    }
}

static void put_sample(void)
{
    static const char *const keys[] = {"name", "u", "i", "long", "float", "", "text", "at", "data", "path", "other"};
    uint8_t row = (uint8_t)below(KEYS);
    uint32_t entries = below(KEYS + 1);
    bool in_order = below(2);
    size = 0;
    put_header(6, entries);
    for (uint32_t i = 0; i < entries; i++) {
        bool other = below(10) == 0;
        put_chars(4, keys[other ? (uint8_t)KEYS : row]);
        if (other || below(60) == 0) put_any(0);
        else put_value(row);
        row = in_order || below(20) ? (uint8_t)((row + 1) % KEYS) : (uint8_t)below(KEYS);
        if (!in_order && !below(3)) row = (uint8_t)below(KEYS);
    }
}

static void damage(void)
{
    switch (below(6)) {
    case 0: message[below((uint32_t)size)] = (uint8_t)message_random(&seed); break;
    case 1: message[below((uint32_t)size)] ^= (uint8_t)(1u << below(8)); break;
    case 2: size = (size_t)below((uint32_t)size); break;
    case 3: put(message_random(&seed)); break;
    default: break;
    }
}

static bool same_point(const point *a, const point *b)
{
    return a->present == b->present && (!(a->present & 1) || a->x == b->x) && (!(a->present & 2) || memcmp(&a->y, &b->y, sizeof a->y) == 0);
}

static bool same(const sample *a, const sample *b)
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
    if (p & DN_BIT(AT) && !same_point(&a->at, &b->at)) return false;
    if (p & DN_BIT(DATA) && (a->data_count != b->data_count || memcmp(a->data, b->data, a->data_count * sizeof a->data[0]) != 0)) return false;
    if (p & DN_BIT(PATH)) {
        if (a->path_count != b->path_count) return false;
        for (uint16_t i = 0; i < a->path_count; i++)
            if (!same_point(&a->path[i], &b->path[i])) return false;
    }
    return true;
}

#if defined(__AVR__)
enum { ROUNDS = 200, ROOM = 600 };
#else
enum { ROUNDS = 300000, ROOM = 4096 };
#endif

static void as_by_hand(void)
{
    unsigned kinds[DN_LIMIT + 1] = {0, 0, 0, 0, 0, 0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        message_room(ROOM);
        put_sample();
        damage();
        message_cut(size);
        bool strict = below(4) == 0;
        sample by_table, by_hand;
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
        read = hand_sample(&b, &by_hand);
        dn_error kind = own.kind ? own.kind : b.error;
        size_t offset = own.kind ? own.offset : dn_error_offset(&b);
        kinds[kind]++;
        bool agree = bound == read && a.error == kind && (bound ? same(&by_table, &by_hand) : dn_error_offset(&a) == offset);
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
    TEST(as_by_hand);
    free(message);
    return test_end("bind_loop");
}
