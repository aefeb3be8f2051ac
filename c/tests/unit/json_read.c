/* JSON to PSON. Every text is read whole, split in two at every place, and byte by byte. */
#include "json_run.h"

typedef struct {
    const char *json;
    const char *hex;
} accepted;

static const accepted accepted_texts[] = {
    {"0", "00"},
    {"30", "1e"},
    {"31", "1f1f"},
    {"-1", "21"},
    {"-31", "3f1f"},
    {"128", "1f8001"},
    {"4294967295", "1fffffffff0f"},
    {"4294967296", "1f8080808010"},
    {"18446744073709551615", "1fffffffffffffffffff01"},
    {"-9223372036854775808", "3f80808080808080808001"},
    {"18446744073709551616", "400000805f"},
    {"-9223372036854777856", "41010000000000e0c3"},
    {"-18446744073709551616", "40000080df"},
    {"-0", "4000000080"},
    {"-0.0", "4000000080"},
    {"-0e5", "4000000080"},
    {"0.0", "00"},
    {"0e1", "00"},
    {"0E-1", "00"},
    {"0e99999999999999999999", "00"},
    {"3e-324", "410100000000000000"},
    {"1.000000000000000005", "01"},
    {"1.0", "01"},
    {"1e3", "1fe807"},
    {"1E+3", "1fe807"},
    {"123.0e-0", "1f7b"},
    {"25.0e-1", "4000002040"},
    {"23.5", "400000bc41"},
    {"1.03", "417b14ae47e17af03f"},
    {"0.1", "419a9999999999b93f"},
    {"0.10000000149011612", "40cdcccc3d"},
    {"0.100000001490116119384765625", "40cdcccc3d"},
    {"1.401298464324817e-45", "4001000000"},
    {"5e-324", "410100000000000000"},
    {"1.7976931348623157e308", "41ffffffffffffef7f"},
    {"1e23", "41f64ae1c7022db544"},
    {"true", "61"},
    {"false", "60"},
    {"null", "62"},
    {" \t\r\nnull \t\r\n", "62"},
    {"\"\"", "80"},
    {"\"on\"", "826f6e"},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "88225c2f080c0a0d09"},
    {"\"\\u0000\\u001F\\u007f\\u0080\\u07fF\\u0800\\uD7ff\\ue000\\uFFFF\"",
     "93001f7fc280dfbfe0a080ed9fbfee8080efbfbf"},
    {"\"\\ud800\\udc00\\uDBFF\\uDFFF\\ud83d\\ude00\"", "8cf0908080f48fbfbff09f9880"},
    {"\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
     "967fc280dfbfe0a080ed9fbfee8080f0908080f48fbfbf"},
    {"\"012345678901234567890123456789\"", "9e303132333435363738393031323334353637383930313233343536373839"},
    {"\"0123456789012345678901234567890\"", "9f1f30313233343536373839303132333435363738393031323334353637383930"},
    {"[]", "e0"},
    {"{}", "c0"},
    {" [ ] ", "e0"},
    {" { } ", "c0"},
    {"[1,[2,{\"a\":[]}],{}]", "e301e202c18161e0c0"},
    {"[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
     "fe000000000000000000000000000000000000000000000000000000000000"},
    {"[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-1.5]",
     "ff1f000000000000000000000000000000000000000000000000000000000000400000c0bf"},
    {"{\"compact\":true,\"schema\":0}", "c287636f6d7061637461" "86736368656d6100"},
    {" { \"\" : 1.5 , \"\\u00e9\" : [ null , false ] } ", "c280400000c03f82c3a9e26260"},
    {"{\"a\":1,\"a\":2}", "c2816101816102"},
};

static void check_accepted(const accepted *a, size_t first, size_t step)
{
    static uint8_t expected[4096];
    size_t size = from_hex(a->hex, expected);
    outcome o = to_message(a->json, strlen(a->json), first, step);
    CHECK(!o.error && !o.write_error);
    CHECK(o.offset == strlen(a->json));
    CHECK(o.size == size && memcmp(message, expected, size) == 0);
    if (o.size != size || memcmp(message, expected, size) != 0) printf("  %s\n", a->json);
}

static void accepts(void)
{
    for (size_t i = 0; i < sizeof accepted_texts / sizeof *accepted_texts; i++) {
        size_t size = strlen(accepted_texts[i].json);
        for (size_t first = 0; first <= size; first++) check_accepted(&accepted_texts[i], first, size + 1);
        check_accepted(&accepted_texts[i], 1, 1);
        check_accepted(&accepted_texts[i], 3, 3);
    }
}

typedef struct {
    const char *json;
    dn_error kind;
    uint32_t offset;
} rejected;

static const rejected rejected_texts[] = {
    {"1e-400", DN_RANGE, 0},
    {"[-2e-324]", DN_RANGE, 1},
    {"[0.0, 1e-99999999999999999999]", DN_RANGE, 6},
    {"", DN_TRUNCATED, 0},
    {" ", DN_TRUNCATED, 1},
    {"[", DN_TRUNCATED, 1},
    {"[1", DN_TRUNCATED, 2},
    {"[1,", DN_TRUNCATED, 3},
    {"{\"a\"", DN_TRUNCATED, 4},
    {"{\"a\":", DN_TRUNCATED, 5},
    {"{\"a\":1", DN_TRUNCATED, 6},
    {"{\"a\":1,", DN_TRUNCATED, 7},
    {"\"", DN_TRUNCATED, 1},
    {"\"\xf0\x90", DN_TRUNCATED, 3},
    {"\"\\", DN_TRUNCATED, 2},
    {"\"\\u12", DN_TRUNCATED, 5},
    {"\"\\ud83d", DN_TRUNCATED, 7},
    {"\"\\ud83d\\", DN_TRUNCATED, 8},
    {"\"\\ud83d\\u", DN_TRUNCATED, 9},
    {"-", DN_TRUNCATED, 1},
    {"1.", DN_TRUNCATED, 2},
    {"1e", DN_TRUNCATED, 2},
    {"1e+", DN_TRUNCATED, 3},
    {"tru", DN_TRUNCATED, 3},
    {"\xef\xbb\xbf" "1", DN_MALFORMED, 0},
    {"]", DN_MALFORMED, 0},
    {"}", DN_MALFORMED, 0},
    {",", DN_MALFORMED, 0},
    {":", DN_MALFORMED, 0},
    {"[1,]", DN_MALFORMED, 3},
    {"[,1]", DN_MALFORMED, 1},
    {"[1 2]", DN_MALFORMED, 3},
    {"[1}", DN_MALFORMED, 2},
    {"[1:2]", DN_MALFORMED, 2},
    {"{\"a\":1]", DN_MALFORMED, 6},
    {"{\"a\":1,}", DN_MALFORMED, 7},
    {"{,}", DN_MALFORMED, 1},
    {"{\"a\" 1}", DN_MALFORMED, 5},
    {"{\"a\":}", DN_MALFORMED, 5},
    {"{\"a\",1}", DN_MALFORMED, 4},
    {"{\"a\":1:2}", DN_MALFORMED, 6},
    {"{\"a\":1 \"b\":2}", DN_MALFORMED, 7},
    {"{a:1}", DN_MALFORMED, 1},
    {"{1:1}", DN_MALFORMED, 1},
    {"{'a':1}", DN_MALFORMED, 1},
    {"[]]", DN_MALFORMED, 2},
    {"[] []", DN_MALFORMED, 3},
    {"1 2", DN_MALFORMED, 2},
    {"1,", DN_MALFORMED, 1},
    {"\"a\"b", DN_MALFORMED, 3},
    {"[01]", DN_MALFORMED, 2},
    {"[-01]", DN_MALFORMED, 3},
    {"[00]", DN_MALFORMED, 2},
    {"[1.]", DN_MALFORMED, 3},
    {"[.5]", DN_MALFORMED, 1},
    {"[-.5]", DN_MALFORMED, 2},
    {"[+1]", DN_MALFORMED, 1},
    {"[--1]", DN_MALFORMED, 2},
    {"[1e]", DN_MALFORMED, 3},
    {"[1e+]", DN_MALFORMED, 4},
    {"[1e+-1]", DN_MALFORMED, 4},
    {"[1e1.5]", DN_MALFORMED, 4},
    {"[1e1e1]", DN_MALFORMED, 4},
    {"[1.2.3]", DN_MALFORMED, 4},
    {"[1-2]", DN_MALFORMED, 2},
    {"[0x10]", DN_MALFORMED, 2},
    {"[1_000]", DN_MALFORMED, 2},
    {"[NaN]", DN_MALFORMED, 1},
    {"[Infinity]", DN_MALFORMED, 1},
    {"[-Infinity]", DN_MALFORMED, 2},
    {"[True]", DN_MALFORMED, 1},
    {"trux", DN_MALFORMED, 3},
    {"truee", DN_MALFORMED, 4},
    {"nul]", DN_MALFORMED, 3},
    {"[fals]", DN_MALFORMED, 5},
    {"[1]//", DN_MALFORMED, 3},
    {"[/**/1]", DN_MALFORMED, 1},
    {"[\"a\tb\"]", DN_MALFORMED, 3},
    {"[\"a\nb\"]", DN_MALFORMED, 3},
    {"[\"\\x\"]", DN_MALFORMED, 3},
    {"[\"\\'\"]", DN_MALFORMED, 3},
    {"[\"\\U0041\"]", DN_MALFORMED, 3},
    {"[\"\\u12\"]", DN_MALFORMED, 6},
    {"[\"\\u12g4\"]", DN_MALFORMED, 6},
    {"\"\\u1g", DN_MALFORMED, 4},
    {"[\"\\udc00\"]", DN_MALFORMED, 7},
    {"[\"\\ud800\"]", DN_MALFORMED, 8},
    {"[\"\\ud800x\"]", DN_MALFORMED, 8},
    {"[\"\\ud800\\n\"]", DN_MALFORMED, 9},
    {"[\"\\ud800\\ud800\"]", DN_MALFORMED, 13},
    {"[\"\\ud800\\u0041\"]", DN_MALFORMED, 13},
    {"[\"\\n\xff\"]", DN_MALFORMED, 4},
    {"\"\x80\"", DN_MALFORMED, 1},
    {"\"\xc0\x80\"", DN_MALFORMED, 1},
    {"\"\xc1\xbf\"", DN_MALFORMED, 1},
    {"\"a\xc3\"", DN_MALFORMED, 2},
    {"\"0123456789012345678901234567890\xc3\"", DN_MALFORMED, 32},
    {"\"a\xc3\\n\"", DN_MALFORMED, 2},
    {"\"\xe0\x9f\xbf\"", DN_MALFORMED, 1},
    {"\"\xe2\x82\"", DN_MALFORMED, 1},
    {"\"\xed\xa0\x80\"", DN_MALFORMED, 1},
    {"\"\xf0\x8f\xbf\xbf\"", DN_MALFORMED, 1},
    {"\"\xf4\x90\x80\x80\"", DN_MALFORMED, 1},
    {"\"\xf5\x80\x80\x80\"", DN_MALFORMED, 1},
    {"\"ab\xf0\x9f\x98(\"", DN_MALFORMED, 3},
    {"[1,18446744073709551617]", DN_RANGE, 3},
    {"-9223372036854775809", DN_RANGE, 0},
    {"[1e309]", DN_RANGE, 1},
    {"[-1e309]", DN_RANGE, 1},
    {"[1,1e99999999999999999999]", DN_RANGE, 3},
    {"[1,1e99999999999999999999", DN_TRUNCATED, 25},
    {" 179769313486231590000e300", DN_RANGE, 1},
    {"[1e400x]", DN_RANGE, 1},
};

static void check_rejected(const rejected *e, size_t first, size_t step)
{
    size_t size = to_message(e->json, strlen(e->json), strlen(e->json), 1).size;
    outcome o = to_message(e->json, strlen(e->json), first, step);
    CHECK(o.size == size); /* the bytes written before the fault */
    CHECK(o.error == e->kind && o.offset == e->offset);
    if (o.error != e->kind || o.offset != e->offset) printf("  %s: %u at %u\n", e->json, o.error, (unsigned)o.offset);
}

static void rejects(void)
{
    for (size_t i = 0; i < sizeof rejected_texts / sizeof *rejected_texts; i++) {
        size_t size = strlen(rejected_texts[i].json);
        for (size_t first = 0; first <= size; first++) check_rejected(&rejected_texts[i], first, size + 1);
        check_rejected(&rejected_texts[i], 1, 1);
    }
}

static void prefixes_are_truncated(void)
{
    static const char json[] = "{\"a\":[-1,-2.5e-3,true,null,\"\xc3\xa9\\u00e9\\ud83d\\ude00\"],\"b\":{}}";
    for (size_t size = 0; size < sizeof json - 1; size++) {
        outcome o = to_message(json, size, size, 1);
        CHECK(o.error == DN_TRUNCATED && o.offset == size);
    }
}

static void limits(void)
{
    memset(text, '[', DN_NESTING + 1);
    memset(text + DN_NESTING + 1, ']', DN_NESTING + 1);
    outcome o = to_message(text, 2 * DN_NESTING + 2, 5, 7);
    CHECK(o.error == DN_LIMIT && o.offset == DN_NESTING);
    o = to_message(text + 1, 2 * DN_NESTING, 5, 7);
    CHECK(!o.error && o.size == DN_NESTING);

    memset(text, ' ', DN_JSON_MAX + 1);
    text[DN_JSON_MAX - 1] = '1';
    o = to_message(text, DN_JSON_MAX, 5000, 777);
    CHECK(!o.error && o.size == 1);
    o = to_message(text, DN_JSON_MAX + 1, 5000, 777);
    CHECK(o.error == DN_LIMIT && o.offset == DN_JSON_MAX);

    /* A text that crosses the limit. */
    memset(text, 'x', DN_JSON_MAX + 1);
    text[0] = '"';
    text[DN_JSON_MAX] = '"';
    o = to_message(text, DN_JSON_MAX + 1, DN_JSON_MAX + 1, 1);
    CHECK(o.error == DN_LIMIT && o.offset == DN_JSON_MAX);
    text[DN_JSON_MAX - 1] = '"';
    o = to_message(text, DN_JSON_MAX, DN_JSON_MAX, 1);
    CHECK(!o.error && o.size == DN_JSON_MAX - 2 + 4);

    /* A message can be longer than its JSON text, and has its own limit. */
    char *at = text;
    *at++ = '[';
    for (int i = 0; i < 200000; i++, at += 4) memcpy(at, "0.1,", 4);
    at[-1] = ']';
    o = to_message(text, (size_t)(at - text), 4096, 4096);
    CHECK(!o.error && o.write_error == DN_LIMIT);
}

static void reports_decimals_that_may_have_lost_digits(void)
{
    static const struct {
        const char *json;
        bool rounded;
    } texts[] = {
        {"[0, -1, 0.0, 1e-5, 123456789012345678]", false},
        {"[24.56, 0.1, 1.03, 123456.789012345]", false},
        {"999999999999999e-200", false},
        {"2.5e-308", false},
        {"0.100000001490116119384765625", false}, /* exactly a binary32 */
        {"1.0000000000000000000", false},
        {"5e-324", true},
        {"2.2250738585072e-308", true},
        {"0.30000000000000004", true},
        {"1.000000000000000005", true},
        {"9007199254740993.0", true},
        {"[9007199254740993.0, 1.5]", true},
        {"[1.5, {\"a\": 3e-324}, 1]", true},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dn_writer w;
        dn_json_reader j;
        memset(&j, 0xa5, sizeof j);
        dn_writer_init(&w, message, sizeof message);
        dn_json_reader_init(&j, &w);
        dn_json_read(&j, texts[i].json, strlen(texts[i].json));
        CHECK(dn_json_finish(&j) && j.rounded == texts[i].rounded);
        if (j.rounded != texts[i].rounded) printf("  %s\n", texts[i].json);
    }
}

static void long_numbers(void)
{
    memset(text, '0', 5000);
    text[4001] = '.';
    text[0] = '1';
    memcpy(text + 5000, "1e-4000", 7);
    outcome o = to_message(text, 5007, 100, 100);
#if DN_JSON_DIGITS == 768
    static const uint8_t one_and_a_bit[] = {0x01};
    CHECK(!o.error && o.size == 1 && memcmp(message, one_and_a_bit, 1) == 0);
    /* Halfway between 1 and the next binary64, plus a little at the 800th digit. */
    static const char half[] = "1.00000000000000011102230246251565404236316680908203125";
    memcpy(text, half, sizeof half - 1);
    memset(text + sizeof half - 1, '0', 900);
    text[sizeof half - 1 + 900] = '1';
    o = to_message(text, sizeof half - 1 + 900, 64, 64);
    CHECK(!o.error && o.size == 1);
    o = to_message(text, sizeof half + 900, 64, 64);
    static const uint8_t next[] = {0x41, 1, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    CHECK(!o.error && o.size == 9 && memcmp(message, next, 9) == 0);
#else
    CHECK(o.error == DN_LIMIT && o.offset == 0);
#endif
    memset(text, '1', 5000);
    o = to_message(text, 5000, 5000, 1);
    CHECK(o.error == (DN_JSON_DIGITS == 768 ? DN_RANGE : DN_LIMIT) && o.offset == 0);
}

int main(void)
{
    TEST(accepts);
    TEST(rejects);
    TEST(prefixes_are_truncated);
    TEST(limits);
    TEST(reports_decimals_that_may_have_lost_digits);
    TEST(long_numbers);
    return test_end("json_read");
}
