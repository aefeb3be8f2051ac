/* dn_check: whole messages, duplicate keys, the first fault in the order of the bytes. */
#include "dn_pson.h"

#include "message.h"

static void check(bool strict, dn_error kind, size_t offset, unsigned line)
{
    dn_fault fault = dn_check(message, message_size, strict);
    test_check_eq(fault.kind, kind, line, TEST_LITERAL("kind"));
    test_check_eq(fault.offset, kind ? offset : 0, line, TEST_LITERAL("offset"));
}

/* Expects the same fault in both modes. */
#define FAULT(literal, kind, offset) (MESSAGE(literal), check(false, kind, offset, __LINE__), check(true, kind, offset, __LINE__))
#define GOOD(literal) FAULT(literal, DN_OK, 0)
#define STRICT_FAULT(literal, offset) (MESSAGE(literal), check(false, DN_OK, 0, __LINE__), check(true, DN_MALFORMED, offset, __LINE__))

static void whole_messages(void)
{
    GOOD("\x00");
    GOOD("\xc0");
    GOOD("\xe0");
    GOOD("\xc2\x87" "compact" "\x61\x86" "schema" "\x00");
    FAULT("", DN_TRUNCATED, 0);
    FAULT("\x00\x00", DN_MALFORMED, 1);
    FAULT("\xc0\x00", DN_MALFORMED, 1);
    FAULT("\x42", DN_MALFORMED, 0);
    FAULT("\x5f", DN_MALFORMED, 0);
    FAULT("\x63", DN_MALFORMED, 0);
    FAULT("\x7f\x02", DN_MALFORMED, 0);
    FAULT("\xe2\x00\x81\xff", DN_MALFORMED, 2);
    FAULT("\xc1\x00\x00", DN_MALFORMED, 1);
    FAULT("\xc1\xa1" "a\x00", DN_MALFORMED, 1);
    FAULT("\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", DN_MALFORMED, 0);
    FAULT("\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80", DN_MALFORMED, 0);
    FAULT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DN_TRUNCATED, 11);
    FAULT("\x9f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" "a", DN_TRUNCATED, 12);
    FAULT("\xdf\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x00\x80\x00", DN_MALFORMED, 13);
    CHECK_EQ(dn_check(NULL, 0, false).kind, DN_TRUNCATED);
}

static void duplicate_keys(void)
{
    FAULT("\xc2\x81" "a\x01\x81" "a\x02", DN_MALFORMED, 4);
    FAULT("\xc2\x80\x00\x80\x00", DN_MALFORMED, 3);
    FAULT("\xc3\x81" "a\x00\x81" "a\x00\x81" "a\x00", DN_MALFORMED, 4); /* a key three times: the second one is the fault */
    FAULT("\xc2\x82" "a\x00\x00\x82" "a\x00\x00", DN_MALFORMED, 5); /* keys with a NUL */
    GOOD("\xc2\x82" "a\x00\x00\x82" "a\x01\x00");
    GOOD("\xc2\x81" "a\x00\x82" "aa\x00");
    GOOD("\xc2\x82" "aa\x00\x81" "a\x00");
    FAULT("\xc2\x82\xc3\xa9\x00\x82\xc3\xa9\x00", DN_MALFORMED, 5);
    /* Keys are compared by their text, whatever the form of their length. */
    MESSAGE("\xc2\x81" "a\x01\x9f\x01" "a\x02");
    check(false, DN_MALFORMED, 4, __LINE__);
    MESSAGE("\xc2\x9f\x81\x00" "a\x01\x81" "a\x02");
    check(false, DN_MALFORMED, 6, __LINE__);
    check(true, DN_MALFORMED, 1, __LINE__);
    /* duplicates with values of every kind between them */
    FAULT("\xce\x81" "a\x1f\xff\x01\x81" "b\x3f\xff\x01\x81" "c\x40\x00\x00\xbc\x41\x81" "d\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f\x81" "e\x60\x81" "f\x62"
          "\x81" "g\x82" "xx\x81" "h\xa3" "yyy\x81" "i\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde\x81" "j\xc2\x81" "x\x00\x81" "y\xe1\x80"
          "\x81" "k\xe3\xe0\xe1\x00\xc1\x81" "z\xc0\x81" "l\x1e\x81" "m\x3e\x81" "m\x00", DN_MALFORMED, message_size - 3);
    /* A duplicate is found before the second key's value, and after the first key's value. */
    FAULT("\xc2\x81" "a\x00\x81" "a\x42", DN_MALFORMED, 4);
    FAULT("\xc2\x81" "a\x00\x81" "a", DN_MALFORMED, 4);
    FAULT("\xc2\x81" "a\x42\x81" "a\x00", DN_MALFORMED, 3);
    FAULT("\xc2\x81" "a\x00\x82" "a", DN_TRUNCATED, 6);
    FAULT("\xc3\x81\xff\x00\x81" "a\x00\x81" "a\x00", DN_MALFORMED, 1);
    /* The same key in different maps is not a duplicate. */
    GOOD("\xe2\xc1\x81" "a\x00\xc1\x81" "a\x00");
    GOOD("\xc2\x81" "a\xc1\x81" "b\x00\x81" "b\xc1\x81" "a\x00");
    FAULT("\xe2\xc1\x81" "a\x00\xc2\x81" "a\x00\x81" "a\x00", DN_MALFORMED, 9);
    FAULT("\xc2\x81" "a\xc2\x81" "b\x00\x81" "a\x00\x81" "a\x00", DN_MALFORMED, 10);
}

/* Duplicates at every level: in the innermost map, and in each map around it after the inner ones have ended. */
static void duplicate_keys_at_every_level(void)
{
    for (size_t depth = 1; depth <= DN_NESTING; depth++)
        for (size_t duplicate = 0; duplicate <= depth; duplicate++) { /* the level of the duplicate; 0 for none */
            message_allocate(depth * 7);
            size_t size = 0;
            size_t expected = 0;
            for (size_t level = 1; level <= depth; level++) {
                message[size++] = 0xc2;
                message[size++] = 0x81;
                message[size++] = 'a';
            }
            message[size++] = 0x00;
            for (size_t level = depth; level >= 1; level--) {
                if (level == duplicate) expected = size;
                message[size++] = 0x81;
                message[size++] = level == duplicate ? 'a' : 'b';
                message[size++] = 0x00;
            }
            message_truncate(size);
            check(true, duplicate ? DN_MALFORMED : DN_OK, expected, __LINE__);
        }
}

#if !defined(__AVR__) /* its RAM is too small */

/* The last of 200 keys is a duplicate of an earlier one. */
static void duplicate_keys_in_long_maps(void)
{
    enum { KEYS = 200 };
    for (size_t duplicate = 0; duplicate < KEYS; duplicate++) { /* KEYS - 1: no duplicate */
        message_allocate(3 + KEYS * 4);
        message[0] = 0xdf;
        message[1] = 0x80 | (KEYS & 0x7f);
        message[2] = KEYS >> 7;
        for (size_t i = 0; i < KEYS; i++) {
            size_t number = i < KEYS - 1 ? i : duplicate;
            uint8_t *entry = message + 3 + 4 * i;
            entry[0] = 0x82;
            entry[1] = (uint8_t)('0' + number / 16);
            entry[2] = (uint8_t)('0' + number % 16);
            entry[3] = 0x00;
        }
        check(true, duplicate < KEYS - 1 ? DN_MALFORMED : DN_OK, 3 + 4 * (KEYS - 1), __LINE__);
    }
}

/* Random maps in maps and arrays, whose generator records the first duplicate key. */
enum { MAX_LEVELS = 6, MAX_KEYS = 8 };

static size_t first_duplicate; /* offset of the first duplicate key; 0 for none */

static void random_value(uint32_t *seed, size_t *size, unsigned level);

static void random_map(uint32_t *seed, size_t *size, unsigned level)
{
    uint8_t keys_used[MAX_KEYS];
    uint8_t keys = (uint8_t)(message_random(seed) % MAX_KEYS);
    message[(*size)++] = (uint8_t)(0xc0 | keys);
    for (uint8_t i = 0; i < keys; i++) {
        keys_used[i] = (uint8_t)('a' + message_random(seed) % 26);
        for (uint8_t before = 0; before < i; before++)
            if (keys_used[before] == keys_used[i] && !first_duplicate) first_duplicate = *size;
        if (message_random(seed) % 4 == 0) { /* an unnecessary varint */
            message[(*size)++] = 0x9f;
            message[(*size)++] = 0x01;
        } else message[(*size)++] = 0x81;
        message[(*size)++] = keys_used[i];
        random_value(seed, size, level + 1);
    }
}

static void random_value(uint32_t *seed, size_t *size, unsigned level)
{
    uint32_t kind = message_random(seed) % (level < MAX_LEVELS ? 8 : 5);
    if (kind >= 6) random_map(seed, size, level);
    else if (kind == 5) {
        uint8_t elements = (uint8_t)(message_random(seed) % 4);
        message[(*size)++] = (uint8_t)(0xe0 | elements);
        while (elements--) random_value(seed, size, level + 1);
    } else if (kind == 4) {
        message[(*size)++] = 0x1f;
        message[(*size)++] = 0x80;
        message[(*size)++] = 0x01;
    } else if (kind == 3) {
        message[(*size)++] = 0x40;
        for (uint8_t i = 0; i < 4; i++) message[(*size)++] = (uint8_t)message_random(seed);
    } else if (kind == 2) {
        message[(*size)++] = 0x82;
        message[(*size)++] = 'a';
        message[(*size)++] = 'b';
    } else message[(*size)++] = (uint8_t)kind;
}

static void random_maps(void)
{
    uint32_t seed = 2021;
    unsigned duplicate = 0, good = 0;
    for (unsigned round = 0; round < 20000; round++) {
        message_allocate(100000);
        size_t size = 0;
        first_duplicate = 0;
        random_map(&seed, &size, 1);
        message_truncate(size);
        dn_fault fault = dn_check(message, message_size, false);
        if (first_duplicate) duplicate++;
        else good++;
        if (!CHECK(fault.kind == (first_duplicate ? DN_MALFORMED : DN_OK) && fault.offset == first_duplicate)) return;
    }
    CHECK(duplicate > 1000 && good > 1000);
}
#endif

static void numbers(void)
{
    GOOD("\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* 2^64-1 */
    GOOD("\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"); /* -2^63 */
    GOOD("\x3f\xff\xff\xff\xff\xff\xff\xff\xff\x7f"); /* -2^63+1 */
    FAULT("\x3f\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01", DN_RANGE, 0); /* -2^63-1 */
    FAULT("\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DN_RANGE, 0);
    FAULT("\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x81\x01", DN_RANGE, 0);
    FAULT("\xe2\x00\x3f\x80\x80\x80\x80\xc0\x80\x80\x80\x80\x01", DN_RANGE, 2);
    MESSAGE("\x3f\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00");
    check(false, DN_OK, 0, __LINE__);
    check(true, DN_MALFORMED, 0, __LINE__);
    FAULT("\xe2\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x42", DN_RANGE, 1); /* errors are found in the order of the bytes */
    FAULT("\xe2\x42\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DN_MALFORMED, 1);
    FAULT("\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", DN_RANGE, 0); /* found before the bytes after the message */
    FAULT("\xe2\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DN_RANGE, 1);
    FAULT("\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff", DN_TRUNCATED, 10);
}

static void canonical_form(void)
{
    STRICT_FAULT("\x20", 0);
    STRICT_FAULT("\x1f\x05", 0);
    STRICT_FAULT("\xe2\x00\x40\x00\x00\x80\x3f", 2);
    STRICT_FAULT("\xc1\x9f\x01" "a\x00", 1);
    MESSAGE("\xc2\x81" "a\x20\x81" "a\x00");
    check(false, DN_MALFORMED, 4, __LINE__);
    check(true, DN_MALFORMED, 3, __LINE__);
}

static void limits(void)
{
    message_allocate(DN_NESTING + 2);
    memset(message, 0xe1, message_size);
    message[message_size - 1] = 0x42;
    check(false, DN_LIMIT, DN_NESTING, __LINE__);
    message_truncate(DN_NESTING);
    check(false, DN_TRUNCATED, DN_NESTING, __LINE__);
    message[message_size - 1] = 0xe0;
    check(false, DN_OK, 0, __LINE__);
#if !defined(__AVR__) /* its RAM is smaller than the limit */
    message_allocate(DN_MESSAGE_MAX + 1);
    memset(message, 0, message_size);
    check(false, DN_LIMIT, DN_MESSAGE_MAX, __LINE__);
    message_truncate(DN_MESSAGE_MAX);
    check(false, DN_MALFORMED, 1, __LINE__);
    message[0] = 0xbf;
    message[1] = 0xfc; /* 2^20 - 4 */
    message[2] = 0xff;
    message[3] = 0x3f;
    check(true, DN_OK, 0, __LINE__);
#endif
}

static void every_prefix_is_truncated(void)
{
    static const char whole[] = "\xc7\x86" "string" "\x84" "test" "\x86" "double" "\x40\x0a\xd7\x83\x3f" "\x84" "long" "\x1f\xb8\xfd\xcf\x84\x05"
                                "\x83" "pos" "\x01\x83" "neg" "\x22\x84" "bool" "\x61\x85" "array" "\xe2\x40\x00\x00\x43\x42\x40\x33\x33\x13\x40";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        message_allocate(size);
        memcpy(message, whole, size);
        check(true, DN_TRUNCATED, size, __LINE__);
    }
    message_allocate(sizeof whole - 1);
    memcpy(message, whole, message_size);
    check(true, DN_OK, 0, __LINE__);
}

int main(void)
{
    TEST(whole_messages);
    TEST(duplicate_keys);
    TEST(duplicate_keys_at_every_level);
#if !defined(__AVR__)
    TEST(duplicate_keys_in_long_maps);
    TEST(random_maps);
#endif
    TEST(numbers);
    TEST(canonical_form);
    TEST(limits);
    TEST(every_prefix_is_truncated);
    free(message);
    return test_end("check");
}
