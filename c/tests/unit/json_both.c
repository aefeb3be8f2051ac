/* Converts from PSON to JSON and back. The argument is the number of random messages. */
#include "json_run.h"

static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % n;
}

static void write_random_text(dn_writer *w)
{
    static const char *const parts[] = {"a", "key", "\"", "\\", "\n", "\x01", "\xc3\xa9", "\xf0\x9f\x98\x80", "/", "0123456789", "\x7f", ""};
    char text_parts[128];
    size_t size = 0;
    for (uint32_t left = random_below(12); left; left--) {
        const char *part = parts[random_below(sizeof parts / sizeof *parts)];
        memcpy(text_parts + size, part, strlen(part));
        size += strlen(part);
    }
    dn_write_text(w, text_parts, size);
}

static void write_random(dn_writer *w, int depth)
{
    uint32_t kind = random_below(depth < 5 ? 10 : 8), left;
    uint64_t bits = state;
    double value;
    switch (kind) {
    case 0: dn_write_null(w); break;
    case 1: dn_write_bool(w, random_below(2)); break;
    case 2: dn_write_u64(w, bits >> random_below(64)); break;
    case 3: dn_write_i64(w, -(int64_t)(bits >> 1 >> random_below(63))); break;
    case 4: dn_write_float(w, (float)random_below(100000) / 100); break;
    case 5:
        memcpy(&value, &bits, sizeof value);
        if (value - value == 0) dn_write_double(w, value);
        else dn_write_double(w, -0.0);
        break;
    case 6: dn_write_double(w, (double)random_below(100000) / 100); break;
    case 7: write_random_text(w); break;
    case 8:
        left = random_below(40);
        dn_write_array(w, left);
        while (left--) write_random(w, depth + 2);
        break;
    default:
        left = random_below(6);
        dn_write_map(w, left);
        while (left--) {
            write_random_text(w);
            write_random(w, depth + 1);
        }
    }
}

static int random_count = 3000;

static void random_messages(void)
{
    static uint8_t first[1 << 17];
    dn_reader r;
    collector c;
    for (int i = 0; i < random_count; i++) {
        dn_writer w;
        dn_writer_init(&w, first, sizeof first);
        write_random(&w, 0);
        if (w.error) continue;
        CHECK(write_json(first, dn_written(&w), sizeof text, &c, &r) && dn_done(&r));
        size_t step = 1 + random_below(20);
        outcome o = to_message(text, c.size, random_below(20), step);
        CHECK(!o.error && equal_except_float_width(first, dn_written(&w), message, o.size));

        /* After a change of one byte any outcome is valid, but it must not depend on the pieces. */
        text[random_below((uint32_t)c.size)] = "\"\\,:[]{}0-e. \x80u"[random_below(16)];
        outcome whole = to_message(text, c.size, c.size, 1);
        memcpy(first, message, whole.size < sizeof first ? whole.size : sizeof first);
        outcome split = to_message(text, c.size, random_below(20), step);
        CHECK(whole.error == split.error && whole.offset == split.offset);
        if (!whole.error) {
            CHECK(whole.size == split.size && (whole.size > sizeof first || memcmp(first, message, whole.size) == 0));
            dn_fault fault = dn_check(message, split.size, true);
            /* Duplicate keys, the only fault that the JSON reader does not detect. */
            CHECK(!fault.kind || fault.kind == DN_MALFORMED);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) random_count = atoi(argv[1]);
    TEST(random_messages);
    return test_end("json_both");
}
