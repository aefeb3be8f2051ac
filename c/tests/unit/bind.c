/* dn_bind: structs, their keys, arrays and structs within them. */
#include "dn_bind.h"

#include "message.h"

static dn_reader r;

typedef struct {
    int16_t x;
    uint32_t present;
    uint16_t y;
} point;

DN_TABLE(point_table, point, present,
    DN_FIELD(x, "x", i16), DN_FIELD(y, "y", u16));

typedef struct {
    uint16_t data_count;
    char name[8];
    point at;
    float data[3];
    point path[2];
    uint16_t path_count;
    char tags[2][4];
    uint16_t tags_count;
    uint8_t last;
    uint32_t present;
} track;

enum { NAME, AT, DATA, PATH, TAGS, LAST };

DN_TABLE(track_table, track, present,
    DN_FIELD(name, "name", chars),
    DN_FIELD_STRUCT(at, "at", point_table),
    DN_FIELD_ARRAY(data, data_count, "data", float),
    DN_FIELD_STRUCTS(path, path_count, "path", point_table),
    DN_FIELD_ARRAY(tags, tags_count, "tags", chars),
    DN_FIELD(last, "", u8));

static track t;

static bool bind_track(void)
{
    memset(&t, 0xee, sizeof t);
    return dn_bind(&r, message, message_size, &track_table, &t);
}

static void check_bind(dn_error kind, size_t offset, unsigned line)
{
    bool bound = bind_track();
    test_check(bound == (kind == DN_OK), line, TEST_LITERAL("bound"));
    test_check_eq(r.error, kind, line, TEST_LITERAL("kind"));
    if (kind) test_check_eq(dn_error_offset(&r), offset, line, TEST_LITERAL("offset"));
}

#define FAULT(literal, kind, offset) (MESSAGE(literal), check_bind(kind, offset, __LINE__))
#define BIND(literal) FAULT(literal, DN_OK, 0)

/* The bytes of a member that was not written. */
#define UNCHANGED(member) CHECK(is_unchanged(&(member), sizeof(member)))
static bool is_unchanged(const void *member, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)member)[i] != 0xee) return false;
    return true;
}

#define NAME_GPS "\x84" "name\x83" "gps"
#define AT_1_2 "\x82" "at\xc2\x81" "x\x21\x81" "y\x02"
#define DATA_2 "\x84" "data\xe2\x40\x00\x00\x43\x42\x18"
#define PATH_2 "\x84" "path\xe2\xc1\x81" "y\x05\xc2\x81" "y\x06\x81" "x\x1f\x80\x02"
#define TAGS_2 "\x84" "tags\xe2\x83" "one\x80"
#define LAST_9 "\x80\x09"

static void all_fields(void)
{
    BIND("\xc6" NAME_GPS AT_1_2 DATA_2 PATH_2 TAGS_2 LAST_9);
    CHECK_EQ(t.present, 0x3f);
    CHECK_STR(t.name, "gps");
    CHECK_EQ(t.at.x, -1);
    CHECK_EQ(t.at.y, 2);
    CHECK_EQ(t.at.present, 3);
    CHECK_EQ(t.data_count, 2);
    CHECK_DOUBLE(t.data[0], 48.75);
    CHECK_DOUBLE(t.data[1], 24);
    UNCHANGED(t.data[2]);
    CHECK_EQ(t.path_count, 2);
    CHECK_EQ(t.path[0].present, DN_BIT(1));
    CHECK_EQ(t.path[0].y, 5);
    UNCHANGED(t.path[0].x);
    CHECK_EQ(t.path[1].present, 3);
    CHECK_EQ(t.path[1].x, 256);
    CHECK_EQ(t.path[1].y, 6);
    CHECK_EQ(t.tags_count, 2);
    CHECK_STR(t.tags[0], "one");
    CHECK_STR(t.tags[1], "");
    CHECK_EQ(t.last, 9);
}

static void fields_in_any_order(void)
{
    static const char *const entries[] = {NAME_GPS, "\x82" "at\xc0", "\x84" "data\xe0", LAST_9};
    static const uint8_t sizes[] = {sizeof NAME_GPS - 1, 4, 6, sizeof LAST_9 - 1};
    for (unsigned a = 0; a < 4; a++)
        for (unsigned b = 0; b < 4; b++)
            for (unsigned c = 0; c < 4; c++)
                for (unsigned d = 0; d < 4; d++) {
                    unsigned order[4] = {a, b, c, d};
                    uint8_t *at;
                    size_t duplicate = 0;
                    message_allocate(40);
                    at = message;
                    *at++ = 0xc4;
                    for (unsigned i = 0; i < 4; i++) {
                        for (unsigned before = 0; before < i; before++)
                            if (order[before] == order[i] && !duplicate) duplicate = (size_t)(at - message);
                        memcpy(at, entries[order[i]], sizes[order[i]]);
                        at += sizes[order[i]];
                    }
                    message_truncate((size_t)(at - message));
                    CHECK_EQ(bind_track(), duplicate == 0);
                    CHECK_EQ(r.error, duplicate ? DN_MALFORMED : DN_OK);
                    if (duplicate) CHECK_EQ(dn_error_offset(&r), duplicate);
                    else {
                        CHECK_EQ(t.present, DN_BIT(NAME) | DN_BIT(AT) | DN_BIT(DATA) | DN_BIT(LAST));
                        CHECK_STR(t.name, "gps");
                        CHECK_EQ(t.at.present, 0);
                        CHECK_EQ(t.data_count, 0);
                        CHECK_EQ(t.last, 9);
                        UNCHANGED(t.path);
                    }
                }
}

static void absent_fields(void)
{
    BIND("\xc0");
    CHECK_EQ(t.present, 0);
    UNCHANGED(t.name);
    UNCHANGED(t.at);
    UNCHANGED(t.data_count);
    UNCHANGED(t.last);
    BIND("\xc1" TAGS_2);
    CHECK_EQ(t.present, DN_BIT(TAGS));
    UNCHANGED(t.path_count);
}

static void unknown_keys(void)
{
    BIND("\xcb\x83" "new\xc2\x81" "a\xe2\x00\x62\x81" "a\x00" NAME_GPS "\x84" "Name\x00\x84" "namd\x00"
         "\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde\xa3" "xyz\x83" "new\x00" LAST_9 "\x85" "name2\x00\x81\x00\x80"
         "\x83" "nam\x40\x00\x00\x00\x00" "\x82" "at\xc0");
    CHECK_EQ(t.present, DN_BIT(NAME) | DN_BIT(AT) | DN_BIT(LAST));
    CHECK_STR(t.name, "gps");
    CHECK_EQ(t.last, 9);
    FAULT("\xc2\x81" "z\xe1\x42\x80\x09", DN_MALFORMED, 4);
    FAULT("\xc2\x81\xff\x00\x80\x09", DN_MALFORMED, 1);
    FAULT("\xc2\x9f\x02\xc3\x28\x00\x80\x09", DN_MALFORMED, 1);
}

static void keys_with_varints(void)
{
    BIND("\xc2\x9f\x04" "name\x83" "gps\x9f\x80\x00\x07");
    CHECK_STR(t.name, "gps");
    CHECK_EQ(t.last, 7);
    FAULT("\xc2" LAST_9 "\x9f\x00\x07", DN_MALFORMED, 3);
}

static void duplicates(void)
{
    FAULT("\xc2" NAME_GPS NAME_GPS, DN_MALFORMED, 10);
    FAULT("\xc2" NAME_GPS "\x84" "name\x42", DN_MALFORMED, 10); /* detected before the value is read */
    FAULT("\xc2" NAME_GPS "\x84" "name", DN_MALFORMED, 10);
    FAULT("\xc2" NAME_GPS "\x84" "nam", DN_TRUNCATED, 14);
    FAULT("\xc3" LAST_9 "\x81" "z\x00" LAST_9, DN_MALFORMED, 6);
    FAULT("\xc1\x82" "at\xc2\x81" "x\x00\x81" "x\x00", DN_MALFORMED, 8);
    FAULT("\xc1\x84" "path\xe2\xc1\x81" "x\x00\xc2\x81" "y\x00\x81" "y\x00", DN_MALFORMED, 15);
    BIND("\xc1\x84" "path\xe2\xc1\x81" "x\x00\xc1\x81" "x\x00"); /* the same key in another map is not a duplicate */
    BIND("\xc2\x81" "z\xc2\x81" "a\x00\x81" "a\x00\x81" "z\x00"); /* unknown keys are skipped */
}

static void arrays(void)
{
    BIND("\xc1\x84" "data\xe3\x01\x02\x03");
    CHECK_EQ(t.data_count, 3);
    CHECK_DOUBLE(t.data[2], 3);
    BIND("\xc1\x84" "data\xff\x03\x01\x02\x03");
    CHECK_EQ(t.data_count, 3);
    FAULT("\xc1\x84" "data\xe4\x01\x02\x03\x04", DN_RANGE, 10);
    CHECK_EQ((uint8_t)t.path[0].present, 0xee); /* the next member is unchanged */
    FAULT("\xc1\x84" "data\xe4\x01\x02\x03\x42", DN_MALFORMED, 10);
    FAULT("\xc1\x84" "data\xe4\x01\x02\x03\x9f", DN_TRUNCATED, 11);
    FAULT("\xc1\x84" "data\xe4\x01\x02\x03", DN_TRUNCATED, 10);
    FAULT("\xc1\x84" "data\xe4\x01\x61\x03\x04", DN_WRONG_TYPE, 8); /* errors are found in the order of the bytes */
    FAULT("\xc1\x84" "data\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02\x03\x04", DN_RANGE, 20);
    FAULT("\xc1\x84" "data\xc0", DN_WRONG_TYPE, 6);
    FAULT("\xc1\x84" "data\x05", DN_WRONG_TYPE, 6);
    FAULT("\xc1\x84" "data\x62", DN_WRONG_TYPE, 6);
    FAULT("\xc1\x84" "path\xe3\xc0\xc0\xc0", DN_RANGE, 9);
    FAULT("\xc1\x84" "path\xe1\xe0", DN_WRONG_TYPE, 7);
    FAULT("\xc1\x84" "path\xe1\xc1\x81" "x\x80", DN_WRONG_TYPE, 10);
    FAULT("\xc1\x84" "tags\xe2\x80\x84" "four", DN_RANGE, 8);
    FAULT("\xc1\x84" "tags\xe3\x80\x80\x80", DN_RANGE, 9);
}

static void whole_messages(void)
{
    FAULT("", DN_TRUNCATED, 0);
    FAULT("\xe0", DN_WRONG_TYPE, 0);
    FAULT("\x00", DN_WRONG_TYPE, 0);
    FAULT("\xa0", DN_WRONG_TYPE, 0);
    FAULT("\x5f", DN_MALFORMED, 0);
    FAULT("\xc0\x00", DN_MALFORMED, 1);
    FAULT("\xc1" LAST_9 "\xc0", DN_MALFORMED, 3);
    FAULT("\xc1\x05\x05", DN_MALFORMED, 1); /* the key is not text */
    FAULT("\xc1\xa4" "name\x80", DN_MALFORMED, 1);
    FAULT("\xc1\x81\xff\x05", DN_MALFORMED, 1);
    FAULT("\xc2\x82" "at\xc1\x81" "x\x05\x00", DN_MALFORMED, 8);
    FAULT("\xdf\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" LAST_9, DN_TRUNCATED, 13);
    FAULT("\xc1\x9f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", DN_MALFORMED, 1);
    BIND("\xdf\x01" LAST_9);
    CHECK_EQ(t.last, 9);
    CHECK(!dn_bind(&r, NULL, 0, &track_table, &t));
    CHECK_EQ(r.error, DN_TRUNCATED);
#if !defined(__AVR__) /* its RAM is smaller than the limit */
    message_allocate(DN_MESSAGE_MAX + 1);
    memset(message, 0xc0, message_size);
    CHECK(!bind_track());
    CHECK_EQ(r.error, DN_LIMIT);
    CHECK_EQ(dn_error_offset(&r), DN_MESSAGE_MAX);
#endif
}

static void every_prefix_is_truncated(void)
{
    MESSAGE("\xc8" NAME_GPS "\x82" "no\xe2\x00\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde" AT_1_2 DATA_2 PATH_2 TAGS_2
            "\x9f\x03" "non\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f" "\x80\x1f\xff\x01");
    CHECK(bind_track());
    CHECK_EQ(t.last, 255);
    while (message_size) {
        message_truncate(message_size - 1);
        CHECK(!bind_track());
        CHECK_EQ(r.error, DN_TRUNCATED);
        CHECK_EQ(dn_error_offset(&r), message_size);
    }
}

/* ---- Within a message; strict ---- */

static void structs_within_messages(void)
{
    point p;
    MESSAGE("\xe3\x07\xc2\x81" "y\x01\x81" "x\x02\x08");
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_array(&r));
    CHECK_EQ(dn_read_u8(&r), 7);
    CHECK(dn_read_struct(&r, &point_table, &p));
    CHECK_EQ(p.x, 2);
    CHECK_EQ(p.y, 1);
    CHECK_EQ(dn_read_u8(&r), 8);
    CHECK(!dn_read_struct(&r, &point_table, &p)); /* the array has no more elements */
    CHECK_EQ(r.error, DN_WRONG_TYPE);

    MESSAGE("\xc1\xc0");
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_map(&r));
    CHECK(!dn_read_struct(&r, &point_table, &p)); /* a key is next */
    CHECK_EQ(r.error, DN_MALFORMED);
    CHECK_EQ(dn_error_offset(&r), 1);
    CHECK(!dn_read_struct(&r, &point_table, &p)); /* the first error stays */
    CHECK_EQ(r.error, DN_MALFORMED);
    CHECK_EQ(p.present, 0);

    message_allocate(DN_NESTING + 1);
    memset(message, 0xe1, message_size);
    message[DN_NESTING] = 0xc0;
    dn_reader_init(&r, message, message_size);
    for (unsigned i = 0; i < DN_NESTING; i++) CHECK(dn_read_array(&r));
    CHECK(!dn_read_struct(&r, &point_table, &p));
    CHECK_EQ(r.error, DN_LIMIT);
    CHECK_EQ(dn_error_offset(&r), DN_NESTING);
}

static void strict_structs(void)
{
    static const char *const rejected[] = {"\xc1\x81" "x\x1f\x05", "\xc1\x81" "x\x20", "\xc1\x81" "x\x40\x00\x00\x80\x3f", "\xc1\x9f\x01" "x\x05",
                                           "\xdf\x01\x81" "x\x05"};
    static const uint8_t sizes[] = {5, 4, 8, 5, 5};
    static const uint8_t offsets[] = {3, 3, 3, 1, 0};
    point p;
    for (unsigned i = 0; i < 5; i++) {
        message_allocate(sizes[i]);
        memcpy(message, rejected[i], sizes[i]);
        CHECK(dn_bind(&r, message, message_size, &point_table, &p));
        dn_reader_init(&r, message, message_size);
        dn_reader_strict(&r);
        CHECK(!dn_read_struct(&r, &point_table, &p));
        CHECK_EQ(r.error, DN_MALFORMED);
        CHECK_EQ(dn_error_offset(&r), offsets[i]);
    }
    MESSAGE("\xc2\x84" "data\xe2\x18\x40\x00\x00\x43\x42\x80\x1e");
    dn_reader_init(&r, message, message_size);
    dn_reader_strict(&r);
    CHECK(dn_read_struct(&r, &track_table, &t));
    CHECK(dn_done(&r));
    MESSAGE("\xc1\x84" "data\xe1\x40\x00\x00\x40\x42");
    dn_reader_init(&r, message, message_size);
    dn_reader_strict(&r);
    CHECK(!dn_read_struct(&r, &track_table, &t));
    CHECK_EQ(dn_error_offset(&r), 7);
}

int main(void)
{
    TEST(all_fields);
    TEST(fields_in_any_order);
    TEST(absent_fields);
    TEST(unknown_keys);
    TEST(keys_with_varints);
    TEST(duplicates);
    TEST(arrays);
    TEST(whole_messages);
    TEST(every_prefix_is_truncated);
    TEST(structs_within_messages);
    TEST(strict_structs);
    free(message);
    return test_end("bind");
}
