/* PSON to JSON. */
#include "json_run.h"

typedef struct {
    const char *hex;
    const char *json;
} written;

static const written written_texts[] = {
    {"00", "0"},
    {"20", "0"},
    {"21", "-1"},
    {"3f1f", "-31"},
    {"1fffffffffffffffffff01", "18446744073709551615"},
    {"3f80808080808080808001", "-9223372036854775808"},
    {"1f8080808010", "4294967296"},
    {"400000bc41", "23.5"},
    {"4000000000", "0"},
    {"4000000080", "-0.0"},
    {"410000000000000080", "-0.0"},
    {"4000004042", "48"},
    {"410000000000004840", "48"},
    {"400000805f", "1.8446744e+19"},
    {"41ffffffffffffef43", "18446744073709549568"},
    {"41000000000000e0c3", "-9223372036854775808"},
    {"41010000000000e0c3", "-9.223372036854778e+18"},
    {"4033331340", "2.3"},
    {"40cdcccc3d", "0.1"},
    {"4085eb8141", "16.24"},
    {"40acc52737", "0.00001"},
    {"4095bfd633", "1e-7"},
    {"40ffffff4a", "8388607.5"},
    {"4001000000", "1e-45"},
    {"40ffff7f00", "1.1754942e-38"},
    {"40ffff7f7f", "3.4028235e+38"},
    {"410100000000000000", "5e-324"},
    {"417b14ae47e17af03f", "1.03"},
    {"60", "false"},
    {"61", "true"},
    {"62", "null"},
    {"80", "\"\""},
    {"88225c2f080c0a0d09", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"88000b0e1f207fc3a9", "\"\\u0000\\u000b\\u000e\\u001f \x7f\xc3\xa9\""},
    {"84f09f9880", "\"\xf0\x9f\x98\x80\""},
    {"e0", "[]"},
    {"c0", "{}"},
    {"e301e202c18161e0c0", "[1,[2,{\"a\":[]}],{}]"},
    {"c280628161e26061", "{\"\":null,\"a\":[false,true]}"},
    {"c2816101816102", "{\"a\":1,\"a\":2}"},
    {"e3e0e0e0", "[[],[],[]]"},
    {"c28161c08162c0", "{\"a\":{},\"b\":{}}"},
};

static void writes(void)
{
    uint8_t bytes[256];
    dn_reader r;
    collector c;
    for (size_t i = 0; i < sizeof written_texts / sizeof *written_texts; i++) {
        size_t size = from_hex(written_texts[i].hex, bytes);
        size_t length = strlen(written_texts[i].json);
        CHECK(write_json(bytes, size, sizeof text, &c, &r));
        CHECK(dn_done(&r));
        CHECK(c.size == length && memcmp(text, written_texts[i].json, length) == 0);
        if (c.size != length || memcmp(text, written_texts[i].json, length) != 0) printf("  %.*s\n", (int)c.size, text);
        for (size_t most = 0; most < length; most++) {
            CHECK(!write_json(bytes, size, most, &c, &r));
            CHECK(!r.error);
            CHECK(c.size <= most && memcmp(text, written_texts[i].json, c.size) == 0);
        }
        for (size_t prefix = 0; prefix < size; prefix++) {
            CHECK(!write_json(bytes, prefix, sizeof text, &c, &r));
            CHECK(r.error == DN_TRUNCATED && dn_error_offset(&r) == prefix);
        }
    }
}

static void rejects(void)
{
    static const struct {
        const char *hex;
        dn_error kind;
        size_t offset;
    } faults[] = {
        {"a0", DN_WRONG_TYPE, 0},
        {"e200a20102", DN_WRONG_TYPE, 2},
        {"400000c07f", DN_RANGE, 0},
        {"e1400000807f", DN_RANGE, 1},
        {"e140000080ff", DN_RANGE, 1},
        {"c18161410000000000" "00f07f", DN_RANGE, 3},
        {"41000000000000f8ff", DN_RANGE, 0},
        {"3f81808080808080808001", DN_RANGE, 0},
        {"e13fffffffffffffffffff01", DN_RANGE, 1},
        {"e100ff", DN_OK, 0},
        {"63", DN_MALFORMED, 0},
        {"81ff", DN_MALFORMED, 0},
        {"c10000", DN_MALFORMED, 1},
    };
    uint8_t bytes[256];
    dn_reader r;
    collector c;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t size = from_hex(faults[i].hex, bytes);
        CHECK(write_json(bytes, size, sizeof text, &c, &r) == !faults[i].kind);
        CHECK(r.error == faults[i].kind && (!r.error || dn_error_offset(&r) == faults[i].offset));
        if (r.error != faults[i].kind) printf("  %s: %u\n", faults[i].hex, r.error);
    }
    memset(bytes, 0xe1, DN_NESTING + 1);
    CHECK(!write_json(bytes, DN_NESTING + 1, sizeof text, &c, &r));
    CHECK(r.error == DN_LIMIT && dn_error_offset(&r) == DN_NESTING);
}

static void items_of_a_message(void)
{
    static const uint8_t bytes[] = {0xc2, 0x81, 'a', 0xe2, 1, 0xe1, 2, 0x81, 'b', 3};
    dn_reader r;
    collector c = {0, sizeof text, text};
    dn_reader_init(&r, bytes, sizeof bytes);
    CHECK(dn_read_map(&r) && dn_read_key(&r));
    CHECK(dn_json_write(&r, collect, &c));
    CHECK(c.size == 7 && memcmp(text, "[1,[2]]", 7) == 0);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "b") && dn_read_u8(&r) == 3 && !dn_read_key(&r) && dn_done(&r));
    CHECK(!dn_json_write(&r, collect, &c) && r.error == DN_WRONG_TYPE);

    dn_reader_init(&r, bytes, sizeof bytes);
    dn_read_map(&r); /* a key is next */
    c.size = 0;
    CHECK(!dn_json_write(&r, collect, &c) && r.error == DN_WRONG_TYPE && dn_error_offset(&r) == 1 && c.size == 0);

    dn_reader_init(&r, bytes + 5, 2);
    dn_read_array(&r);
    dn_read_u8(&r); /* the array's end is next */
    CHECK(!dn_json_write(&r, collect, &c) && r.error == DN_WRONG_TYPE && c.size == 0);
}

int main(void)
{
    TEST(writes);
    TEST(rejects);
    TEST(items_of_a_message);
    return test_end("json_write");
}
