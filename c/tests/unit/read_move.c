/* Moves through a message: items in order, containers entered, skipped and left, keys found, its end and its limits. */
#include "read_run.h"

static void items_come_in_order(void)
{
    static const uint8_t types[] = {DN_ARRAY, DN_UINT, DN_UINT, DN_NEGATIVE, DN_FLOAT, DN_DOUBLE, DN_BOOL, DN_BOOL, DN_NULL, DN_TEXT, DN_BYTES,
                                    DN_MAP, DN_KEY, DN_ARRAY, DN_END, DN_KEY, DN_MAP, DN_END, DN_END, DN_ARRAY, DN_ARRAY, DN_NULL, DN_END, DN_END, DN_END};
    static const uint8_t n[] = {12, 5, 0, 31, 0, 0, 0, 1, 2, 2, 3, 2, 1, 0, 0, 1, 0, 0, 0, 1, 1, 2, 0, 0, 0};
    READ("\xec\x05\x20\x3f\x1f\x40\x00\x00\xbc\x41\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f\x60\x61\x62\x82on\xa3\x01\x02\xff"
         "\xc2\x81" "a\xe0\x81" "b\xc0\xe1\xe1\x62");
    for (uint8_t i = 0; i < sizeof types; i++) {
        CHECK_EQ(dn_next(&r), types[i]);
        CHECK_EQ(r.type, types[i]);
        if (types[i] != DN_FLOAT && types[i] != DN_DOUBLE && types[i] != DN_END && types[i] != DN_NULL) CHECK_EQ(r.n, n[i]);
    }
    CHECK_EQ(dn_next(&r), DN_STOP);
    CHECK_EQ(dn_next(&r), DN_STOP);
    CHECK_EQ(r.error, DN_OK);
    CHECK(dn_done(&r));
    READ("\x1f\x87\x80\x80\x80\x10"); /* 2^32 + 7 */
    CHECK_EQ(dn_next(&r), DN_UINT);
    CHECK(r.wide);
    CHECK_EQ(r.n, 7);
    CHECK_EQ(dn_next(&r), DN_STOP);
}

static void maps_and_arrays_are_entered(void)
{
    READ("\xc2\x81" "a\xe2\x01\x02\x81" "b\xc1\x80\x61");
    CHECK(dn_read_map(&r));
    CHECK_EQ(r.n, 2);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "a"));
    CHECK(dn_read_array(&r));
    CHECK_EQ(r.n, 2);
    for (uint8_t i = 1; dn_more(&r); i++) CHECK_EQ(dn_read_u8(&r), i);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "b"));
    CHECK(dn_read_map(&r));
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, ""));
    CHECK(dn_read_bool(&r));
    CHECK(!dn_read_key(&r));
    CHECK(!dn_read_key(&r));
    CHECK(dn_done(&r));
    READ("\xe2\xe0\xc0"); /* empty containers */
    CHECK(dn_read_array(&r) && dn_more(&r) && dn_read_array(&r));
    CHECK(!dn_more(&r));
    CHECK(dn_more(&r) && dn_read_map(&r));
    CHECK(!dn_read_key(&r));
    CHECK(!dn_more(&r));
    CHECK(dn_done(&r));
}

#define REJECTED(literal, call, offset) (READ("\xe1" literal), (void)dn_next(&r), CHECK(!(call)), FAILED(DN_WRONG_TYPE, offset))

static void other_types_are_rejected(void)
{
    REJECTED("\xe0", dn_read_map(&r), 1);
    REJECTED("\x81" "a", dn_read_map(&r), 1);
    REJECTED("\xc0", dn_read_array(&r), 1);
    REJECTED("\x01", dn_read_array(&r), 1);
    REJECTED("\xa1" "a", dn_read_text(&r), 1);
    REJECTED("\x81" "a", dn_read_bytes(&r), 1);
    REJECTED("\x61", dn_read_null(&r), 1);
    REJECTED("\x81" "a", dn_read_key(&r), 1); /* text that is not a key */
    REJECTED("\x01", dn_read_uint(&r, 9) == 1 && dn_read_text(&r), 2); /* the array ends */
    READ("\xc1\x81" "a\x00");
    CHECK(dn_read_map(&r) && !dn_read_text(&r)); /* a key is next */
    FAILED(DN_WRONG_TYPE, 1);
    READ("\x00");
    CHECK(dn_read_u8(&r) == 0 && !dn_read_array(&r)); /* the message has ended */
    FAILED(DN_WRONG_TYPE, 1);
    READ("\xc1\x01\x02");
    CHECK(dn_read_map(&r) && !dn_read_key(&r));
    FAILED(DN_MALFORMED, 1);
}

static void skip_skips_one_item(void)
{
    READ("\xea\x1f\x80\x01\x40\x00\x00\xbc\x41\x62\x82on\xa1\xff\xe2\xe1\x01\xc1\x80\xe0\xc2\x81" "a\xc0\x80\x82xy\xe0\x3e\x07");
    CHECK(dn_read_array(&r));
    for (uint8_t i = 0; i < 9; i++) dn_skip(&r);
    CHECK_EQ(dn_read_u8(&r), 7);
    CHECK(!dn_more(&r) && dn_done(&r));
    READ("\xc2\x81" "a\xe1\x01\x81" "b\x02"); /* a key is an item */
    CHECK(dn_read_map(&r));
    dn_skip(&r);
    dn_skip(&r);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "b"));
    dn_skip(&r);
    CHECK(!dn_read_key(&r) && dn_done(&r));
    READ("\xe1\xe3\x01\x02\x03"); /* the whole message is an item, too */
    dn_skip(&r);
    CHECK(dn_done(&r));
    READ("\xe2\xe1\xe2\x00\x81\xff\x00"); /* skipped items are checked */
    CHECK(dn_read_array(&r));
    dn_skip(&r);
    FAILED(DN_MALFORMED, 4);
    READ("\xc1\x81" "a\xc1\x00\x00");
    dn_skip(&r);
    FAILED(DN_MALFORMED, 4);
    READ("\xe2\xe2\x00");
    dn_skip(&r);
    FAILED(DN_TRUNCATED, 3);
}

static void leaving_closes_one_level(void)
{
    for (uint8_t reads = 0; reads < 6; reads++) { /* items of the inner array that are read before it is left */
        READ("\xe2\xe5\x01\x62\x40\x00\x00\xbc\x41\x81" "a\x05\x07");
        CHECK(dn_read_array(&r) && dn_read_array(&r));
        for (uint8_t i = 0; i < reads; i++) dn_next(&r);
        dn_leave(&r);
        CHECK_EQ(dn_read_u8(&r), 7);
        CHECK(dn_done(&r));
    }
    READ("\xe2\xc2\x81" "a\xe2\xc1\x81" "b\xe0\x01\x81" "c\x02\x07");
    CHECK(dn_read_array(&r) && dn_read_map(&r) && dn_read_key(&r) && dn_read_array(&r) && dn_read_map(&r) && dn_read_key(&r));
    dn_leave(&r); /* a value is next */
    CHECK_EQ(dn_read_u8(&r), 1);
    dn_leave(&r);
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "c"));
    dn_leave(&r);
    CHECK_EQ(dn_read_u8(&r), 7);
    dn_leave(&r);
    dn_leave(&r); /* outside of all containers */
    CHECK(dn_done(&r));
    READ("\xe3\x01\x42\x02");
    CHECK(dn_read_array(&r));
    dn_leave(&r);
    FAILED(DN_MALFORMED, 2);
}

static bool find(const dn_mark *map, const char *key) { return dn_find(&r, map, key, strlen(key)); }

static void keys_are_found_in_any_order(void)
{
    static const char orders[][4] = {"abc", "acb", "bac", "bca", "cab", "cba"};
    for (uint8_t i = 0; i < 6; i++) {
        READ("\xe2\xc4\x81" "a\xe2\xc1\x81" "c\x09\x08\x82" "ab\x00\x81" "b\x9f\x05" "abcde\x81" "c\x03\x07");
        CHECK(dn_read_array(&r) && dn_read_map(&r));
        dn_mark map = dn_mark_here(&r);
        for (uint8_t k = 0; k < 3; k++) {
            char key[2] = {orders[i][k], '\0'};
            CHECK(!find(&map, "d") && !find(&map, "") && r.error == DN_OK);
            CHECK(find(&map, key));
            if (key[0] == 'a') CHECK(dn_read_array(&r) && dn_read_map(&r)); /* left open */
            if (key[0] == 'b') CHECK(dn_read_text(&r) && r.n == 5);
            if (key[0] == 'c') CHECK_EQ(dn_read_u8(&r), 3);
        }
        CHECK(find(&map, "ab"));
        dn_leave(&r);
        CHECK_EQ(dn_read_u8(&r), 7);
        CHECK(!dn_more(&r) && dn_done(&r));
    }
}

static void marks_nest(void)
{
    READ("\xc2\x81" "x\xe2\xc2\x81" "k\x01\x81" "l\x02\xc1\x81" "k\x03\x81" "y\xc1\x81" "x\x04");
    CHECK(dn_read_map(&r));
    dn_mark outer = dn_mark_here(&r);
    CHECK(find(&outer, "y") && dn_read_map(&r));
    dn_mark inner = dn_mark_here(&r);
    CHECK(!find(&inner, "y") && find(&inner, "x"));
    CHECK_EQ(dn_read_u8(&r), 4);
    dn_leave(&r);
    CHECK(find(&outer, "x") && dn_read_array(&r));
    for (uint8_t i = 1; dn_more(&r); i = (uint8_t)(i + 2)) { /* the maps of an array, each with its own mark */
        CHECK(dn_read_map(&r));
        dn_mark each = dn_mark_here(&r);
        CHECK_EQ(find(&each, "l"), i == 1);
        CHECK(find(&each, "k"));
        CHECK_EQ(dn_read_u8(&r), i);
        dn_leave(&r);
    }
    CHECK(dn_read_key(&r) && DN_KEY_IS(&r, "y"));
    dn_mark last = outer;
    CHECK(find(&last, "y"));
    dn_leave(&r);
    CHECK(dn_done(&r));
    READ("\xc2\x81" "a\x01\x81" "b\x02"); /* the search begins at the mark */
    CHECK(dn_read_map(&r) && dn_read_key(&r));
    CHECK_EQ(dn_read_u8(&r), 1);
    dn_mark second = dn_mark_here(&r);
    CHECK(!find(&second, "a") && find(&second, "b"));
    CHECK_EQ(dn_read_u8(&r), 2);
    CHECK(!find(&second, "a") && dn_done(&r));
    READ("\xc0");
    CHECK(dn_read_map(&r));
    dn_mark empty = dn_mark_here(&r);
    CHECK(!find(&empty, "") && r.error == DN_OK && dn_done(&r));
}

static void errors_end_the_search(void)
{
    READ("\xc3\x81" "a\x01\x81" "b\x63\x81" "c\x02");
    CHECK(dn_read_map(&r));
    dn_mark map = dn_mark_here(&r);
    CHECK(find(&map, "a"));
    CHECK_EQ(dn_read_u8(&r), 1);
    CHECK(find(&map, "b")); /* its value has not been checked */
    CHECK(!find(&map, "c"));
    FAILED(DN_MALFORMED, 6);
    CHECK(!find(&map, "a"));
    FAILED(DN_MALFORMED, 6);
    READ("\xc2\x81" "a\x01");
    CHECK(dn_read_map(&r));
    map = dn_mark_here(&r);
    CHECK(!find(&map, "b"));
    FAILED(DN_TRUNCATED, 4);
    READ("\xc2\x81" "a\x01\x81" "b\x02");
    CHECK(dn_read_map(&r));
    map = dn_mark_here(&r);
    CHECK(find(&map, "b") && !dn_read_text(&r));
    CHECK(!find(&map, "a"));
    FAILED(DN_WRONG_TYPE, 6);
    READ("\xc1\x01\x01");
    CHECK(dn_read_map(&r));
    map = dn_mark_here(&r);
    CHECK(!find(&map, "a"));
    FAILED(DN_MALFORMED, 1);
}

static void done_requires_a_complete_read(void)
{
    READ("\xe2\x01\xe1\x02");
    CHECK(!dn_done(&r)); /* nothing was read */
    FAILED(DN_WRONG_TYPE, 0);
    for (uint8_t reads = 1; reads < 8; reads++) {
        begin();
        for (uint8_t i = 0; i < reads; i++) dn_next(&r);
        CHECK_EQ(dn_done(&r), reads >= 4); /* from here on only ends of containers are left */
        CHECK_EQ(dn_done(&r), reads >= 4);
        if (reads < 4) FAILED(DN_WRONG_TYPE, reads);
    }
    READ("\xc1\x81" "a\x01");
    CHECK(dn_read_map(&r) && dn_read_key(&r) && !dn_done(&r)); /* between a key and its value */
    FAILED(DN_WRONG_TYPE, 3);
    READ("\x05");
    CHECK(dn_read_u8(&r) == 5 && dn_done(&r));
    READ("");
    CHECK_EQ(dn_next(&r), DN_STOP);
    FAILED(DN_TRUNCATED, 0);
    dn_reader_init(&r, NULL, 0);
    CHECK_EQ(dn_next(&r), DN_STOP);
    FAILED(DN_TRUNCATED, 0);
}

static void trailing_bytes_are_malformed(void)
{
    READ("\x05\x05");
    CHECK(dn_read_u8(&r) == 5 && !dn_done(&r));
    FAILED(DN_MALFORMED, 1);
    begin();
    CHECK(dn_next(&r) == DN_UINT && dn_next(&r) == DN_STOP);
    FAILED(DN_MALFORMED, 1);
    READ("\xe1\xe1\x05\xff");
    for (uint8_t reads = 3; reads < 7; reads++) {
        begin();
        for (uint8_t i = 0; i < reads; i++) dn_next(&r);
        CHECK(!dn_done(&r));
        FAILED(DN_MALFORMED, 3);
    }
    READ("\xc0\x00");
    dn_skip(&r);
    CHECK(r.error == DN_OK && !dn_done(&r));
    FAILED(DN_MALFORMED, 1);
}

int main(void)
{
    TEST(items_come_in_order);
    TEST(maps_and_arrays_are_entered);
    TEST(other_types_are_rejected);
    TEST(skip_skips_one_item);
    TEST(leaving_closes_one_level);
    TEST(keys_are_found_in_any_order);
    TEST(marks_nest);
    TEST(errors_end_the_search);
    TEST(done_requires_a_complete_read);
    TEST(trailing_bytes_are_malformed);
    free(message);
    return test_end("read_move");
}
