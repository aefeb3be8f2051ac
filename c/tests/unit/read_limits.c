/* The reader at its limits: prefixes, nesting, huge counts, long arrays, odd addresses, and texts that end with the message. */
#include "read_run.h"

/* Ways to read a complete or truncated message. */
enum { BY_ITEMS, BY_SKIP, BY_LEAVE, WAYS };

static void read_all(uint8_t way)
{
    begin();
    if (way == BY_SKIP) dn_skip(&r);
    if (way == BY_LEAVE && dn_next(&r) >= DN_MAP) dn_leave(&r);
    while (dn_next(&r)) {}
}

static void check_all_fail(dn_error kind, size_t offset, unsigned line)
{
    for (uint8_t way = 0; way < WAYS; way++) {
        read_all(way);
        check_failed(kind, offset, line);
    }
}

static void check_all_succeed(unsigned line)
{
    for (uint8_t way = 0; way < WAYS; way++) {
        read_all(way);
        test_check(dn_done(&r), line, TEST_LITERAL("done"));
    }
}

#define ALL_FAIL(kind, offset) check_all_fail(kind, offset, __LINE__)
#define ALL_SUCCEED() check_all_succeed(__LINE__)

static void every_prefix_is_truncated(void)
{
    size_t complete = 1;
    for (size_t size = 0; size <= complete; size++) {
        MESSAGE("\xff\x0a\x1f\xff\x01\x3f\x80\x80\x80\x80\x10\x40\x00\x00\xbc\x41\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f\x61\x62\x83\xe2\x82\xac"
                "\xbf\x03\x01\x02\x03\xc2\x81" "a\xe1\xc0\x9f\x81\x00" "b\xdf\x01\x82\xc3\xa9\x60\x9f\x02" "xy");
        complete = message_size;
        message_truncate(size);
        if (size == complete) ALL_SUCCEED();
        else ALL_FAIL(DN_TRUNCATED, size);
    }
}

/* `depth` arrays, or maps of one entry, the innermost of which is empty. */
static void make_nested(size_t depth, bool maps)
{
    size_t step = maps ? 2 : 1;
    message_allocate((depth - 1) * step + 1);
    for (size_t i = 0; i < depth; i++) {
        bool last = i == depth - 1;
        message[i * step] = maps ? (uint8_t)(0xc1 - last) : (uint8_t)(0xe1 - last);
        if (maps && !last) message[i * step + 1] = 0x80;
    }
}

static void nesting_ends_at_the_limit(void)
{
    for (uint8_t maps = 0; maps < 2; maps++) {
        size_t header = DN_NESTING * (maps ? 2u : 1u); /* the header of the container that exceeds the limit */
        make_nested(DN_NESTING, maps);
        ALL_SUCCEED();
        make_nested(DN_NESTING + 1, maps);
        ALL_FAIL(DN_LIMIT, header);
        make_nested(DN_NESTING + 2, maps);
        ALL_FAIL(DN_LIMIT, header);
        message_truncate(header);
        ALL_FAIL(DN_TRUNCATED, header);
        make_nested(DN_NESTING + 1, maps);
        message[header] = 0xff; /* detected before its missing varint */
        ALL_FAIL(DN_LIMIT, header);
        message[header] = 0x00; /* other items do not exceed the limit */
        ALL_SUCCEED();
    }
    message_allocate(2 * DN_NESTING); /* nested to the limit again after the first one */
    memset(message, 0xe1, message_size);
    message[0] = 0xe2;
    message[DN_NESTING - 1] = message[2 * DN_NESTING - 2] = 0xe0;
    message_truncate(2 * DN_NESTING - 1);
    ALL_SUCCEED();
}

/* Makes a message of a header with N as a varint, and `size` bytes of `with`. */
static void make_announced(uint8_t header, uint64_t n, size_t size, uint8_t with)
{
    uint8_t varint[10];
    size_t bytes = 0;
    for (; n > 0x7f; n >>= 7) varint[bytes++] = (uint8_t)(n | 0x80);
    varint[bytes++] = (uint8_t)n;
    message_allocate(1 + bytes + size);
    message[0] = header | 31;
    memcpy(message + 1, varint, bytes);
    memset(message + 1 + bytes, with, size);
}

static void huge_counts_are_truncated(void)
{
    for (uint8_t bit = 15; bit <= 64; bit++)
        for (uint8_t more = 0; more < 3; more++) {
            uint64_t n = (bit < 64 ? (uint64_t)1 << bit : 0) + more - 1; /* 2^bit - 1, 2^bit, 2^bit + 1 */
            if (n < 0x7fff) continue;
            make_announced(0xe0, n, 6, 0x00);
            ALL_FAIL(DN_TRUNCATED, message_size);
            make_announced(0xc0, n, 6, 0x80);
            ALL_FAIL(DN_TRUNCATED, message_size);
            make_announced(0xc0, n, 5, 0x80);
            ALL_FAIL(DN_TRUNCATED, message_size);
            make_announced(0x80, n, 6, 'a');
            ALL_FAIL(DN_TRUNCATED, message_size);
            make_announced(0xa0, n, 6, 0x00);
            ALL_FAIL(DN_TRUNCATED, message_size);
            make_announced(0xe0, n, 6, 0x63); /* elements are checked first */
            ALL_FAIL(DN_MALFORMED, message_size - 6);
            make_announced(0xc0, n, 6, 0x00);
            ALL_FAIL(DN_MALFORMED, message_size - 6);
        }
    MESSAGE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xdf\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00");
    ALL_FAIL(DN_TRUNCATED, message_size);
    begin();
    CHECK(dn_read_array(&r) && r.wide && r.n == UINT32_MAX && dn_more(&r) && !dn_done(&r));
    FAILED(DN_WRONG_TYPE, 11);
}

#if SIZE_MAX > 0xffff /* and enough RAM */
static void long_containers_are_read_completely(void)
{
    enum { MANY = 20000 };
    make_announced(0xe0, MANY, MANY, 0x07);
    ALL_SUCCEED();
    begin();
    CHECK(dn_read_array(&r) && r.n == MANY);
    uint32_t elements = 0;
    while (dn_more(&r) && dn_read_u8(&r) == 7) elements++;
    CHECK_EQ(elements, MANY);
    CHECK(dn_done(&r));
    message_truncate(message_size - 1);
    ALL_FAIL(DN_TRUNCATED, message_size);
    make_announced(0xe0, MANY, MANY + 1, 0x07);
    ALL_FAIL(DN_MALFORMED, message_size - 1);
    make_announced(0xc0, MANY, 2 * MANY, 0x80); /* "": "" */
    ALL_SUCCEED();
    begin();
    CHECK(dn_read_map(&r));
    dn_mark map = dn_mark_here(&r);
    CHECK(!dn_find(&r, &map, "a", 1) && dn_find(&r, &map, "", 0));
    uint32_t entries = 0;
    do entries++;
    while (dn_read_text(&r) && dn_read_key(&r));
    CHECK_EQ(entries, MANY);
    CHECK(dn_done(&r));
}

static void too_large_messages_are_rejected(void)
{
    make_announced(0xa0, DN_MESSAGE_MAX - 4, DN_MESSAGE_MAX - 4, 0xff);
    CHECK_EQ(message_size, DN_MESSAGE_MAX);
    ALL_SUCCEED();
    make_announced(0xa0, DN_MESSAGE_MAX - 3, DN_MESSAGE_MAX - 3, 0xff);
    ALL_FAIL(DN_LIMIT, DN_MESSAGE_MAX);
    begin();
    CHECK_EQ(r.error, DN_LIMIT);
    message[0] = 0x63; /* the limit is checked before any item */
    ALL_FAIL(DN_LIMIT, DN_MESSAGE_MAX);
}
#endif

static void messages_may_start_at_any_address(void)
{
    for (uint8_t offset = 0; offset < 8; offset++) {
        MESSAGE("\xe8\x40\x00\x00\xbc\x41\x41\x00\x00\x00\x00\x00\x80\x37\x40\x1f\x80\x80\x80\x80\x10\x41\x00\x00\x00\x00\x00\x00\xf0\x40"
                "\x82on\xa2\x01\x02\x40\x00\x00\x80\x3f\x1f\x80\x02");
        size_t size = message_size;
        uint8_t complete[64];
        memcpy(complete, message, size);
        message_allocate(offset + size);
        memset(message, 0xff, offset);
        memcpy(message + offset, complete, size);
        dn_reader_init(&r, message + offset, size);
        CHECK(dn_read_array(&r));
        CHECK_DOUBLE(dn_read_float(&r), 23.5f);
        CHECK_DOUBLE(dn_read_double(&r), 23.5);
        CHECK_EQ(dn_read_u64(&r), (uint64_t)1 << 32);
        CHECK_EQ(dn_read_i32(&r), 65536);
        CHECK(dn_read_text(&r) && DN_KEY_IS(&r, "on"));
        CHECK(dn_read_bytes(&r));
        CHECK_BYTES(dn_chars(&r), r.n, "\x01\x02");
        CHECK_EQ(dn_read_u64(&r), 1);
        CHECK_EQ(dn_read_u16(&r), 256);
        CHECK(!dn_more(&r) && dn_done(&r));
        dn_reader_init(&r, message + offset, size - 1);
        dn_skip(&r);
        FAILED(DN_TRUNCATED, size - 1);
    }
}

static void texts_may_contain_nul(void)
{
    READ("\xc2\x83" "a\x00" "b\x82\x00\x00\x81" "a\x80");
    CHECK(dn_read_map(&r) && dn_read_key(&r));
    CHECK_EQ(r.n, 3);
    CHECK(DN_KEY_IS(&r, "a\0b") && !DN_KEY_IS(&r, "a\0c") && !DN_KEY_IS(&r, "a") && !DN_KEY_IS(&r, "a\0b\0") && !DN_KEY_IS(&r, ""));
    CHECK(dn_read_text(&r));
    CHECK_BYTES(dn_chars(&r), r.n, "\0\0");
    CHECK(DN_KEY_IS(&r, "\0\0"));
    dn_mark map = dn_mark_here(&r);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "a") && !DN_KEY_IS(&r, "b") && !DN_KEY_IS(&r, "aa"));
    CHECK(dn_read_text(&r) && DN_KEY_IS(&r, "") && !DN_KEY_IS(&r, "\0"));
    CHECK(!dn_find(&r, &map, "a\0b", 3) && dn_find(&r, &map, "a", 1));
    dn_skip(&r);
    CHECK(dn_done(&r));
    READ("\xe1\x83" "a\x00" "b");
    char to[8] = "xyz";
    CHECK(dn_read_array(&r) && dn_read_text(&r) && !dn_copy_text(&r, to, sizeof to));
    CHECK_STR(to, "");
    FAILED(DN_RANGE, 1);
}

/* Copies the text in `message`, or the key if `key`, to buffers of every size. */
static void check_copies(bool key, unsigned line)
{
    for (size_t size = 0; size < 9; size++) {
        char to[10];
        memset(to, '~', sizeof to);
        begin();
        dn_next(&r);
        if (key) dn_next(&r);
        size_t length = r.n;
        bool fits = length < size;
        test_check_eq(dn_copy_text(&r, to, size), fits, line, TEST_LITERAL("copied"));
        test_check_eq(r.error, fits ? DN_OK : DN_RANGE, line, TEST_LITERAL("error"));
        if (fits) test_check(memcmp(to, "abcdef", length) == 0 && to[length] == '\0', line, TEST_LITERAL("the text"));
        else test_check(to[0] == (size ? '\0' : '~'), line, TEST_LITERAL("nothing"));
        for (size_t i = size; i < sizeof to; i++) test_check(to[i] == '~', line, TEST_LITERAL("behind the buffer"));
    }
}

static void texts_are_copied_when_they_fit(void)
{
    MESSAGE("\x80");
    check_copies(false, __LINE__);
    MESSAGE("\x81" "a");
    check_copies(false, __LINE__);
    MESSAGE("\x86" "abcdef");
    check_copies(false, __LINE__);
    MESSAGE("\x9f\x83\x00" "abc");
    check_copies(false, __LINE__);
    MESSAGE("\xc1\x83" "abc\x00");
    check_copies(true, __LINE__);
}

#define NOT_COPIED(literal) \
    for (size_t size = 0; size < 3; size++) { \
        char to[4] = "xyz"; \
        READ("\xe1" literal); \
        CHECK(dn_read_array(&r)); \
        dn_next(&r); \
        CHECK(!dn_copy_text(&r, to, size)); \
        CHECK_EQ(to[0], size ? '\0' : 'x'); \
        FAILED(DN_WRONG_TYPE, 1); \
    }

static void only_text_is_copied(void)
{
    NOT_COPIED("\xa1" "a");
    NOT_COPIED("\x00");
    NOT_COPIED("\x05");
    NOT_COPIED("\x40\x00\x00\xbc\x41");
    NOT_COPIED("\x61");
    NOT_COPIED("\x62");
    NOT_COPIED("\xe0");
    READ("\x81\xff");
    char to[4] = "xyz";
    CHECK(!dn_read_text(&r) && !dn_copy_text(&r, to, sizeof to));
    CHECK_STR(to, "");
    FAILED(DN_MALFORMED, 0);
}

int main(void)
{
    TEST(every_prefix_is_truncated);
    TEST(nesting_ends_at_the_limit);
    TEST(huge_counts_are_truncated);
#if SIZE_MAX > 0xffff
    TEST(long_containers_are_read_completely);
    TEST(too_large_messages_are_rejected);
#endif
    TEST(messages_may_start_at_any_address);
    TEST(texts_may_contain_nul);
    TEST(texts_are_copied_when_they_fit);
    TEST(only_text_is_copied);
    free(message);
    return test_end("read_limits");
}
