/* The getters of numbers: their results for integers and for items of other types, and the first error, which sticks. */
#include "read_item.h"

static void bounds_of_small_types(void)
{
    GIVES(UINT(0), dn_read_u8(&r), 0);
    GIVES(UINT(30), dn_read_u8(&r), 30);
    GIVES(UINT(31), dn_read_u8(&r), 31);
    GIVES(UINT(255), dn_read_u8(&r), 255);
    OUT_OF_RANGE(UINT(256), dn_read_u8(&r));
    OUT_OF_RANGE(NEGATIVE(1), dn_read_u8(&r));
    GIVES(UINT(65535), dn_read_u16(&r), 65535);
    OUT_OF_RANGE(UINT(65536), dn_read_u16(&r));
    OUT_OF_RANGE(NEGATIVE(1), dn_read_u16(&r));
    GIVES(UINT(127), dn_read_i8(&r), 127);
    OUT_OF_RANGE(UINT(128), dn_read_i8(&r));
    GIVES(NEGATIVE(1), dn_read_i8(&r), -1);
    GIVES(NEGATIVE(128), dn_read_i8(&r), -128);
    OUT_OF_RANGE(NEGATIVE(129), dn_read_i8(&r));
    OUT_OF_RANGE(UINT(255), dn_read_i8(&r));
    GIVES(UINT(32767), dn_read_i16(&r), 32767);
    OUT_OF_RANGE(UINT(32768), dn_read_i16(&r));
    GIVES(NEGATIVE(32768), dn_read_i16(&r), INT16_MIN);
    OUT_OF_RANGE(NEGATIVE(32769), dn_read_i16(&r));
}

static void bounds_of_the_caller(void)
{
    GIVES(UINT(9), dn_read_uint(&r, 9), 9);
    OUT_OF_RANGE(UINT(10), dn_read_uint(&r, 9));
    GIVES(UINT(0), dn_read_uint(&r, 0), 0);
    OUT_OF_RANGE(UINT(1), dn_read_uint(&r, 0));
    GIVES(NEGATIVE(40), dn_read_int(&r, -40, 125), -40);
    GIVES(UINT(125), dn_read_int(&r, -40, 125), 125);
    OUT_OF_RANGE(NEGATIVE(41), dn_read_int(&r, -40, 125));
    OUT_OF_RANGE(UINT(126), dn_read_int(&r, -40, 125));
    OUT_OF_RANGE(UINT(4), dn_read_int(&r, 5, 9));
    OUT_OF_RANGE(UINT(0), dn_read_int(&r, 5, 9));
    OUT_OF_RANGE(NEGATIVE(4), dn_read_int(&r, -9, -5));
    OUT_OF_RANGE(FLOAT(0x41200000), dn_read_uint(&r, 9)); /* 10.0 */
    OUT_OF_RANGE(FLOAT(0xc1200000), dn_read_int(&r, -9, 9));
}

static void integers_of_32_bits(void)
{
    GIVES(UINT(UINT32_MAX), dn_read_u32(&r), UINT32_MAX);
    OUT_OF_RANGE(UINT(TWO(32)), dn_read_u32(&r));
    OUT_OF_RANGE(UINT(TWO(32) + 5), dn_read_u32(&r)); /* its lower 32 bits would fit */
    OUT_OF_RANGE(UINT(UINT64_MAX), dn_read_u32(&r));
    OUT_OF_RANGE(NEGATIVE(1), dn_read_u32(&r));
    OUT_OF_RANGE(NEGATIVE(TWO(32)), dn_read_u32(&r));
    GIVES(UINT(TWO(31) - 1), dn_read_i32(&r), INT32_MAX);
    OUT_OF_RANGE(UINT(TWO(31)), dn_read_i32(&r));
    OUT_OF_RANGE(UINT(UINT32_MAX), dn_read_i32(&r));
    OUT_OF_RANGE(UINT(TWO(32)), dn_read_i32(&r));
    GIVES(NEGATIVE(TWO(31)), dn_read_i32(&r), INT32_MIN);
    OUT_OF_RANGE(NEGATIVE(TWO(31) + 1), dn_read_i32(&r));
    OUT_OF_RANGE(NEGATIVE(UINT32_MAX), dn_read_i32(&r));
    OUT_OF_RANGE(NEGATIVE(TWO(32)), dn_read_i32(&r));
    OUT_OF_RANGE(NEGATIVE(TWO(32) + 1), dn_read_i32(&r));
}

static void integers_of_64_bits(void)
{
    for (uint8_t bits = 1; bits < 64; bits++) {
        GIVES(UINT(TWO(bits)), dn_read_u64(&r), TWO(bits));
        GIVES(UINT(TWO(bits) - 1), dn_read_u64(&r), TWO(bits) - 1);
        GIVES(NEGATIVE(TWO(bits) - 1), dn_read_i64(&r), -(int64_t)(TWO(bits) - 1));
    }
    GIVES(UINT(0x123456789abcdef0u), dn_read_i64(&r), 0x123456789abcdef0);
    GIVES(UINT(UINT64_MAX), dn_read_u64(&r), UINT64_MAX);
    OUT_OF_RANGE(NEGATIVE(1), dn_read_u64(&r));
    OUT_OF_RANGE(NEGATIVE(UINT64_MAX), dn_read_u64(&r));
    GIVES(UINT(TWO(63) - 1), dn_read_i64(&r), INT64_MAX);
    OUT_OF_RANGE(UINT(TWO(63)), dn_read_i64(&r));
    OUT_OF_RANGE(UINT(UINT64_MAX), dn_read_i64(&r));
    GIVES(NEGATIVE(TWO(63)), dn_read_i64(&r), INT64_MIN);
    OUT_OF_RANGE(NEGATIVE(TWO(63) + 1), dn_read_i64(&r));
    OUT_OF_RANGE(NEGATIVE(UINT64_MAX), dn_read_i64(&r));
}

static void overlong_varints_are_read(void)
{
    GIVES(LITERAL("\x1f\x05"), dn_read_u8(&r), 5);
    GIVES(LITERAL("\x1f\x85\x80\x00"), dn_read_u8(&r), 5);
    GIVES(LITERAL("\x1f\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00"), dn_read_u8(&r), 5);
    GIVES(LITERAL("\x1f\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00"), dn_read_u64(&r), 5);
    GIVES(LITERAL("\x1f\xff\xff\xff\xff\x8f\x80\x00"), dn_read_u32(&r), UINT32_MAX);
    GIVES(LITERAL("\x1f\x80\x80\x80\x80\x90\x80\x00"), dn_read_u64(&r), TWO(32));
    GIVES_FLOAT(LITERAL("\x1f\x80\x80\x80\x80\x90\x80\x00"), dn_read_float(&r), 4294967296.0f);
    GIVES_FLOAT(LITERAL("\x1f\x80\x80\x80\x88\x80\x80\x00"), dn_read_float(&r), 16777216.0f);
    GIVES(LITERAL("\x3f\x85\x00"), dn_read_i8(&r), -5);
    /* a negative 0 is 0 */
    GIVES(LITERAL("\x20"), dn_read_u8(&r), 0);
    GIVES(LITERAL("\x20"), dn_read_i64(&r), 0);
    GIVES_FLOAT(LITERAL("\x20"), dn_read_float(&r), 0.0f);
    GIVES(LITERAL("\x3f\x80\x00"), dn_read_u64(&r), 0);
    GIVES_FLOAT(LITERAL("\x3f\x00"), dn_read_double(&r), 0.0);
}

static void bools(void)
{
    GIVES(LITERAL("\x60"), dn_read_bool(&r), false);
    GIVES(LITERAL("\x61"), dn_read_bool(&r), true);
    REJECTED(LITERAL("\x62"), dn_read_bool(&r), DN_WRONG_TYPE);
    REJECTED(UINT(0), dn_read_bool(&r), DN_WRONG_TYPE);
    REJECTED(UINT(1), dn_read_bool(&r), DN_WRONG_TYPE);
    REJECTED(FLOAT(0x3f800000), dn_read_bool(&r), DN_WRONG_TYPE);
    REJECTED(LITERAL("\x84true"), dn_read_bool(&r), DN_WRONG_TYPE);
}

static void other_types_are_not_numbers(void)
{
    static const char items[][4] = {"\x60", "\x61", "\x62", "\x82\x31\x32", "\xa2\x01\x02", "\xc0", "\xe0"};
    for (uint8_t i = 0; i < sizeof items / sizeof *items; i++) {
        size_t size = strlen(items[i]);
        REJECTED(begin_item(items[i], size), dn_read_u8(&r), DN_WRONG_TYPE);
        REJECTED(begin_item(items[i], size), dn_read_i32(&r), DN_WRONG_TYPE);
        REJECTED(begin_item(items[i], size), dn_read_u64(&r), DN_WRONG_TYPE);
        REJECTED(begin_item(items[i], size), dn_read_i64(&r), DN_WRONG_TYPE);
        REJECTED(begin_item(items[i], size), dn_read_float(&r), DN_WRONG_TYPE);
        REJECTED(begin_item(items[i], size), dn_read_double(&r), DN_WRONG_TYPE);
    }
    MESSAGE("\xc1\x81" "1\x01"); /* keys and the end of an array are not numbers either */
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_map(&r));
    CHECK_EQ(dn_read_u8(&r), 0);
    CHECK_EQ(r.error, DN_WRONG_TYPE);
    CHECK_EQ(dn_error_offset(&r), 1);
    MESSAGE("\xe1\x01");
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_array(&r));
    CHECK_EQ(dn_read_u8(&r), 1);
    CHECK_EQ(dn_read_u8(&r), 0);
    CHECK_EQ(r.error, DN_WRONG_TYPE);
    CHECK_EQ(dn_error_offset(&r), 2);
}

static void an_item_may_be_read_again(void)
{
    DOUBLE(0x40f0000000000000u); /* 65536.0 */
    CHECK_EQ(dn_next(&r), DN_DOUBLE);
    for (uint8_t i = 0; i < 2; i++) {
        CHECK_EQ(dn_get_uint(&r, UINT32_MAX), 65536u);
        CHECK_EQ(dn_get_int(&r, 0, INT32_MAX), 65536);
        CHECK_EQ(dn_get_u64(&r), 65536u);
        CHECK_EQ(dn_get_i64(&r), 65536);
        CHECK_DOUBLE(dn_get_float(&r), 65536.0f);
        CHECK_DOUBLE(dn_get_double(&r), 65536.0);
    }
    check_rest(__LINE__);
    FLOAT(0x3fc00000);
    CHECK_EQ(dn_next(&r), DN_FLOAT);
    CHECK_DOUBLE(dn_float(&r), 1.5f);
    check_rest(__LINE__);
}

static void the_first_error_sticks(void)
{
    LITERAL("\x1f\xac\x02");
    CHECK_EQ(dn_read_u8(&r), 0); /* 300 */
    CHECK(!dn_read_text(&r) && !dn_read_null(&r) && !dn_read_map(&r));
    check_error(DN_RANGE, __LINE__);
    LITERAL("\x82" "ab");
    CHECK_EQ(dn_read_u8(&r), 0);
    CHECK_EQ(dn_read_i8(&r), 0);
    check_error(DN_WRONG_TYPE, __LINE__);
    LITERAL("\x42"); /* DN_MALFORMED is kept, whatever type is requested */
    CHECK_DOUBLE(dn_read_float(&r), 0.0f);
    check_error(DN_MALFORMED, __LINE__);
    LITERAL("\x9f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    CHECK_EQ(dn_read_u64(&r), 0);
    check_error(DN_MALFORMED, __LINE__);
}

int main(void)
{
    TEST(bounds_of_small_types);
    TEST(bounds_of_the_caller);
    TEST(integers_of_32_bits);
    TEST(integers_of_64_bits);
    TEST(overlong_varints_are_read);
    TEST(bools);
    TEST(other_types_are_not_numbers);
    TEST(an_item_may_be_read_again);
    TEST(the_first_error_sticks);
    free(message);
    return test_end("read_number");
}
