/* Writes every kind of item at every boundary of its forms. */
#include "dn_pson.h"

#include <float.h>

#include "test.h"

static uint8_t buffer[160];
static dn_writer w;

static void begin(void)
{
    memset(buffer, 0xee, sizeof buffer);
    dn_writer_init(&w, buffer, sizeof buffer);
}

/* Writes an item to a fresh buffer, and compares it. */
#define CHECK_ITEM(statement, literal) \
    do { \
        begin(); \
        statement; \
        CHECK_EQ(w.error, DN_OK); \
        CHECK_BYTES(buffer, dn_written(&w), literal); \
        CHECK_EQ(buffer[dn_written(&w)], 0xee); \
    } while (0)

static void writes_unsigned_integers(void)
{
    CHECK_ITEM(dn_write_uint(&w, 0), "\x00");
    CHECK_ITEM(dn_write_uint(&w, 30), "\x1e");
    CHECK_ITEM(dn_write_uint(&w, 31), "\x1f\x1f");
    CHECK_ITEM(dn_write_uint(&w, 127), "\x1f\x7f");
    CHECK_ITEM(dn_write_uint(&w, 128), "\x1f\x80\x01");
    CHECK_ITEM(dn_write_uint(&w, 255), "\x1f\xff\x01");
    CHECK_ITEM(dn_write_uint(&w, 256), "\x1f\x80\x02");
    CHECK_ITEM(dn_write_uint(&w, 0x3fff), "\x1f\xff\x7f");
    CHECK_ITEM(dn_write_uint(&w, 0x4000), "\x1f\x80\x80\x01");
    CHECK_ITEM(dn_write_uint(&w, 0x1fffff), "\x1f\xff\xff\x7f");
    CHECK_ITEM(dn_write_uint(&w, 0x200000), "\x1f\x80\x80\x80\x01");
    CHECK_ITEM(dn_write_uint(&w, 0xfffffff), "\x1f\xff\xff\xff\x7f");
    CHECK_ITEM(dn_write_uint(&w, 0x10000000), "\x1f\x80\x80\x80\x80\x01");
    CHECK_ITEM(dn_write_uint(&w, 1351824120), "\x1f\xf8\xe5\xcc\x84\x05");
    CHECK_ITEM(dn_write_uint(&w, UINT32_MAX), "\x1f\xff\xff\xff\xff\x0f");
}

static void writes_signed_integers(void)
{
    CHECK_ITEM(dn_write_int(&w, 0), "\x00");
    CHECK_ITEM(dn_write_int(&w, 31), "\x1f\x1f");
    CHECK_ITEM(dn_write_int(&w, INT32_MAX), "\x1f\xff\xff\xff\xff\x07");
    CHECK_ITEM(dn_write_int(&w, -1), "\x21");
    CHECK_ITEM(dn_write_int(&w, -30), "\x3e");
    CHECK_ITEM(dn_write_int(&w, -31), "\x3f\x1f");
    CHECK_ITEM(dn_write_int(&w, -128), "\x3f\x80\x01");
    CHECK_ITEM(dn_write_int(&w, -INT32_MAX), "\x3f\xff\xff\xff\xff\x07");
    CHECK_ITEM(dn_write_int(&w, INT32_MIN), "\x3f\x80\x80\x80\x80\x08");
}

static void writes_discrete_values(void)
{
    CHECK_ITEM(dn_write_bool(&w, false), "\x60");
    CHECK_ITEM(dn_write_bool(&w, true), "\x61");
    CHECK_ITEM(dn_write_null(&w), "\x62");
}

static void writes_container_headers(void)
{
    CHECK_ITEM(dn_write_map(&w, 0), "\xc0");
    CHECK_ITEM(dn_write_map(&w, 30), "\xde");
    CHECK_ITEM(dn_write_map(&w, 31), "\xdf\x1f");
    CHECK_ITEM(dn_write_map(&w, UINT32_MAX), "\xdf\xff\xff\xff\xff\x0f");
    CHECK_ITEM(dn_write_array(&w, 0), "\xe0");
    CHECK_ITEM(dn_write_array(&w, 30), "\xfe");
    CHECK_ITEM(dn_write_array(&w, 31), "\xff\x1f");
    CHECK_ITEM(dn_write_array(&w, 128), "\xff\x80\x01");
}

static void writes_text_and_bytes(void)
{
    CHECK_ITEM(dn_write_text(&w, NULL, 0), "\x80");
    CHECK_ITEM(dn_write_text(&w, "a", 1), "\x81" "a");
    CHECK_ITEM(dn_write_text(&w, "a\0b", 3), "\x83" "a\0b");
    CHECK_ITEM(dn_write_str(&w, ""), "\x80");
    CHECK_ITEM(dn_write_str(&w, "on"), "\x82on");
    CHECK_ITEM(dn_write_str(&w, "123456789012345678901234567890"), "\x9e" "123456789012345678901234567890");
    CHECK_ITEM(dn_write_str(&w, "1234567890123456789012345678901"), "\x9f\x1f" "1234567890123456789012345678901");
    CHECK_ITEM(dn_write_bytes(&w, NULL, 0), "\xa0");
    CHECK_ITEM(dn_write_bytes(&w, "\x01\x02", 2), "\xa2\x01\x02");
    CHECK_ITEM(dn_write_bytes(&w, "1234567890123456789012345678901", 31), "\xbf\x1f" "1234567890123456789012345678901");
#if defined(__AVR__)
    CHECK_ITEM(dn_write_text_P(&w, PSTR("flash"), 5), "\x85" "flash");
    CHECK_ITEM(dn_write_text_P(&w, PSTR(""), 0), "\x80");
#endif
}

static void writes_keys(void)
{
    CHECK_ITEM(DN_WRITE_KEY(&w, ""), "\x80");
    CHECK_ITEM(DN_WRITE_KEY(&w, "sensor"), "\x86sensor");
    CHECK_ITEM(DN_WRITE_KEY(&w, "123456789012345678901234567890"), "\x9e" "123456789012345678901234567890");
    CHECK_ITEM(DN_WRITE_KEY(&w, "1234567890123456789012345678901"), "\x9f\x1f" "1234567890123456789012345678901");
}

/* Writes a text of `size` bytes, and checks its header, its length and its last byte. */
static void check_long_text(size_t size, const char *header, size_t header_size)
{
    static char text[150];
    memset(text, 'x', sizeof text);
    text[size - 1] = 'y';
    begin();
    dn_write_text(&w, text, size);
    CHECK_EQ(w.error, DN_OK);
    CHECK_EQ(dn_written(&w), header_size + size);
    CHECK(memcmp(buffer, header, header_size) == 0);
    CHECK(memcmp(buffer + header_size, text, size) == 0);
    CHECK_EQ(buffer[header_size + size], 0xee);
}

static void writes_long_text(void)
{
    check_long_text(31, "\x9f\x1f", 2);
    check_long_text(127, "\x9f\x7f", 2);
    check_long_text(128, "\x9f\x80\x01", 3);
    check_long_text(150, "\x9f\x96\x01", 3);
}

static void writes_floats(void)
{
    CHECK_ITEM(dn_write_float(&w, 0.0f), "\x00");
    CHECK_ITEM(dn_write_float(&w, -0.0f), "\x40\x00\x00\x00\x80");
    CHECK_ITEM(dn_write_float(&w, 1.0f), "\x01");
    CHECK_ITEM(dn_write_float(&w, -1.0f), "\x21");
    CHECK_ITEM(dn_write_float(&w, 0.5f), "\x40\x00\x00\x00\x3f");
    CHECK_ITEM(dn_write_float(&w, 23.5f), "\x40\x00\x00\xbc\x41");
    CHECK_ITEM(dn_write_float(&w, 48.75f), "\x40\x00\x00\x43\x42");
    CHECK_ITEM(dn_write_float(&w, 48.0f), "\x1f\x30");
    CHECK_ITEM(dn_write_float(&w, 2.3f), "\x40\x33\x33\x13\x40");
    CHECK_ITEM(dn_write_float(&w, 255.0f), "\x1f\xff\x01");
    CHECK_ITEM(dn_write_float(&w, 256.0f), "\x1f\x80\x02");
    CHECK_ITEM(dn_write_float(&w, 257.0f), "\x1f\x81\x02");
    CHECK_ITEM(dn_write_float(&w, 1013.25f), "\x40\x00\x50\x7d\x44");
    CHECK_ITEM(dn_write_float(&w, -65537.0f), "\x3f\x81\x80\x04");
    CHECK_ITEM(dn_write_float(&w, 65536.5f), "\x40\x40\x00\x80\x47");
    CHECK_ITEM(dn_write_float(&w, 8388607.5f), "\x40\xff\xff\xff\x4a");
    CHECK_ITEM(dn_write_float(&w, 8388608.0f), "\x1f\x80\x80\x80\x04");
    CHECK_ITEM(dn_write_float(&w, 16777215.0f), "\x1f\xff\xff\xff\x07");
    CHECK_ITEM(dn_write_float(&w, 16777216.0f), "\x1f\x80\x80\x80\x08");
    CHECK_ITEM(dn_write_float(&w, 33554430.0f), "\x1f\xfe\xff\xff\x0f");
    CHECK_ITEM(dn_write_float(&w, 4294967296.0f), "\x1f\x80\x80\x80\x80\x10");
    CHECK_ITEM(dn_write_float(&w, -4294967296.0f), "\x3f\x80\x80\x80\x80\x10");
    CHECK_ITEM(dn_write_float(&w, 4294967040.0f), "\x1f\x80\xfe\xff\xff\x0f");
    CHECK_ITEM(dn_write_float(&w, 9223372036854775808.0f), "\x1f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    CHECK_ITEM(dn_write_float(&w, -9223372036854775808.0f), "\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    CHECK_ITEM(dn_write_float(&w, -9223371487098961920.0f), "\x3f\x80\x80\x80\x80\x80\xf0\xff\xff\x7f");
    CHECK_ITEM(dn_write_float(&w, -9223373136366403584.0f), "\x40\x01\x00\x00\xdf");
    CHECK_ITEM(dn_write_float(&w, 18446742974197923840.0f), "\x1f\x80\x80\x80\x80\x80\xe0\xff\xff\xff\x01");
    CHECK_ITEM(dn_write_float(&w, 18446744073709551616.0f), "\x40\x00\x00\x80\x5f");
    CHECK_ITEM(dn_write_float(&w, -18446744073709551616.0f), "\x40\x00\x00\x80\xdf");
    CHECK_ITEM(dn_write_float(&w, FLT_MAX), "\x40\xff\xff\x7f\x7f");
    CHECK_ITEM(dn_write_float(&w, FLT_MIN), "\x40\x00\x00\x80\x00");
}

/* Returns the float with these bits. */
static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void writes_special_floats(void)
{
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x00000001)), "\x40\x01\x00\x00\x00");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x007fffff)), "\x40\xff\xff\x7f\x00");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x80400000)), "\x40\x00\x00\x40\x80");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x7f800000)), "\x40\x00\x00\x80\x7f");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0xff800000)), "\x40\x00\x00\x80\xff");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x7fc00000)), "\x40\x00\x00\xc0\x7f");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0xffc00001)), "\x40\x00\x00\xc0\x7f");
    CHECK_ITEM(dn_write_float(&w, float_from_bits(0x7fffffff)), "\x40\x00\x00\xc0\x7f");
}

/* Every exponent, both signs, and mantissas with 0 to 23 trailing zeros, compared with 64-bit arithmetic. */
static void writes_floats_of_every_exponent(void)
{
    for (uint16_t top = 0; top < 0x200; top++) {
        for (uint8_t zeros = 0; zeros <= 23; zeros++) {
            uint32_t bits = (uint32_t)top << 23 | (zeros < 23 ? (UINT32_C(0x5a5a5b) << zeros & 0x7fffff) : 0);
            uint8_t exponent = (uint8_t)top;
            uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
            bool negative = top & 0x100;
            uint8_t expected[16];
            dn_writer e;
            dn_writer_init(&e, expected, sizeof expected);

            uint64_t integer = 0;
            bool is_integer = exponent >= 127 && exponent <= 127 + 63;
            if (is_integer && exponent >= 150) integer = mantissa << (exponent - 150);
            if (is_integer && exponent < 150) integer = mantissa >> (150 - exponent);
            if (is_integer && exponent < 150) is_integer = integer << (150 - exponent) == mantissa;
            if (negative && integer > UINT64_C(1) << 63) is_integer = false;
            if (bits == 0 || is_integer) {
                if (negative) dn_write_i64(&e, (int64_t)(0 - integer));
                else dn_write_u64(&e, integer);
            } else {
                uint32_t raw = exponent == 255 && mantissa != 0x800000 ? 0x7fc00000 : bits;
                expected[0] = 0x40;
                for (uint8_t i = 0; i < 4; i++) expected[1 + i] = (uint8_t)(raw >> 8 * i);
                e.at += 5;
            }
            begin();
            dn_write_float(&w, float_from_bits(bits));
            if (dn_written(&w) != dn_written(&e) || memcmp(buffer, expected, dn_written(&e)) != 0) CHECK_EQ(bits, 0);
        }
    }
    CHECK(true);
}

int main(void)
{
    TEST(writes_unsigned_integers);
    TEST(writes_signed_integers);
    TEST(writes_discrete_values);
    TEST(writes_container_headers);
    TEST(writes_text_and_bytes);
    TEST(writes_keys);
    TEST(writes_long_text);
    TEST(writes_floats);
    TEST(writes_special_floats);
    TEST(writes_floats_of_every_exponent);
    return test_end("write");
}
