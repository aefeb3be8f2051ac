/* Writes integers of 64 bits and doubles at every boundary of their forms. */
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

static void writes_wide_integers(void)
{
    CHECK_ITEM(dn_write_u64(&w, 0), "\x00");
    CHECK_ITEM(dn_write_u64(&w, 30), "\x1e");
    CHECK_ITEM(dn_write_u64(&w, 31), "\x1f\x1f");
    CHECK_ITEM(dn_write_u64(&w, UINT32_MAX), "\x1f\xff\xff\xff\xff\x0f");
    CHECK_ITEM(dn_write_u64(&w, UINT64_C(0x100000000)), "\x1f\x80\x80\x80\x80\x10");
    CHECK_ITEM(dn_write_u64(&w, UINT64_C(0x7ffffffff)), "\x1f\xff\xff\xff\xff\x7f");
    CHECK_ITEM(dn_write_u64(&w, UINT64_C(0x800000000)), "\x1f\x80\x80\x80\x80\x80\x01");
    CHECK_ITEM(dn_write_u64(&w, UINT64_MAX), "\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    CHECK_ITEM(dn_write_i64(&w, 0), "\x00");
    CHECK_ITEM(dn_write_i64(&w, -1), "\x21");
    CHECK_ITEM(dn_write_i64(&w, -31), "\x3f\x1f");
    CHECK_ITEM(dn_write_i64(&w, INT32_MIN), "\x3f\x80\x80\x80\x80\x08");
    CHECK_ITEM(dn_write_i64(&w, -INT64_C(0x100000000)), "\x3f\x80\x80\x80\x80\x10");
    CHECK_ITEM(dn_write_i64(&w, INT64_MAX), "\x1f\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    CHECK_ITEM(dn_write_i64(&w, INT64_MIN), "\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
}

static void writes_doubles(void)
{
    CHECK_ITEM(dn_write_double(&w, 0.0), "\x00");
    CHECK_ITEM(dn_write_double(&w, -0.0), "\x40\x00\x00\x00\x80");
    CHECK_ITEM(dn_write_double(&w, 48.0), "\x1f\x30");
    CHECK_ITEM(dn_write_double(&w, -2.0), "\x22");
    CHECK_ITEM(dn_write_double(&w, 23.5), "\x40\x00\x00\xbc\x41");
    CHECK_ITEM(dn_write_double(&w, 18446744073709551616.0), "\x40\x00\x00\x80\x5f");
    CHECK_ITEM(dn_write_double(&w, -9223372036854775808.0), "\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
#if DBL_MANT_DIG == 53
    double infinity = DBL_MAX * 2;
    CHECK_ITEM(dn_write_double(&w, 1.03), "\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f");
    CHECK_ITEM(dn_write_double(&w, -1.03), "\x41\x7b\x14\xae\x47\xe1\x7a\xf0\xbf");
    CHECK_ITEM(dn_write_double(&w, infinity), "\x40\x00\x00\x80\x7f");
    CHECK_ITEM(dn_write_double(&w, -infinity), "\x40\x00\x00\x80\xff");
    CHECK_ITEM(dn_write_double(&w, infinity - infinity), "\x40\x00\x00\xc0\x7f");
    CHECK_ITEM(dn_write_double(&w, 16777217.0), "\x1f\x81\x80\x80\x08");
    CHECK_ITEM(dn_write_double(&w, 9007199254740991.0), "\x1f\xff\xff\xff\xff\xff\xff\xff\x0f");
    CHECK_ITEM(dn_write_double(&w, 4503599627370495.5), "\x41\xff\xff\xff\xff\xff\xff\x2f\x43");
    CHECK_ITEM(dn_write_double(&w, 18446744073709549568.0), "\x1f\x80\xf0\xff\xff\xff\xff\xff\xff\xff\x01");
    CHECK_ITEM(dn_write_double(&w, -9223372036854777856.0), "\x41\x01\x00\x00\x00\x00\x00\xe0\xc3");
    CHECK_ITEM(dn_write_double(&w, 1e39), "\x41\x1d\x4a\x9c\xf4\x87\x82\x07\x48"); /* more than a binary32 holds */
    CHECK_ITEM(dn_write_double(&w, (double)FLT_MAX), "\x40\xff\xff\x7f\x7f");
    CHECK_ITEM(dn_write_double(&w, (double)FLT_MIN), "\x40\x00\x00\x80\x00");
    CHECK_ITEM(dn_write_double(&w, (double)FLT_MIN / 2), "\x40\x00\x00\x40\x00"); /* a denormal binary32 */
    CHECK_ITEM(dn_write_double(&w, -(double)FLT_MIN / 8388608), "\x40\x01\x00\x00\x80"); /* the smallest one */
    CHECK_ITEM(dn_write_double(&w, (double)FLT_MIN / 16777216), "\x41\x00\x00\x00\x00\x00\x00\x90\x36");
    CHECK_ITEM(dn_write_double(&w, (double)FLT_MIN * 3 / 16777216), "\x41\x00\x00\x00\x00\x00\x00\xa8\x36");
    CHECK_ITEM(dn_write_double(&w, DBL_MIN / 2), "\x41\x00\x00\x00\x00\x00\x00\x08\x00");
#endif
}

int main(void)
{
    TEST(writes_wide_integers);
    TEST(writes_doubles);
    return test_end("write_wide");
}
