/* The store functions: each at the limits of its range, and with other types. */
#include "dn_bind.h"

#include "message.h"

static dn_reader r;

typedef struct {
    uint32_t present;
    uint8_t u8;
    int8_t i8;
    uint16_t u16;
    int16_t i16;
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f;
    double d;
    bool b;
    char chars[6];
    dn_view text;
    dn_view bytes;
    char behind; /* must not be written */
} scalars;

enum { U8, I8, U16, I16, U32, I32, U64, I64, FLOAT, DOUBLE, BOOL, CHARS, TEXT, BYTES, SCALARS };

DN_TABLE(scalars_table, scalars, present,
    DN_FIELD(u8, "A", u8),
    DN_FIELD(i8, "B", i8),
    DN_FIELD(u16, "C", u16),
    DN_FIELD(i16, "D", i16),
    DN_FIELD(u32, "E", u32),
    DN_FIELD(i32, "F", i32),
    DN_FIELD(u64, "G", u64),
    DN_FIELD(i64, "H", i64),
    DN_FIELD(f, "I", float),
    DN_FIELD(d, "J", double),
    DN_FIELD(b, "K", bool),
    DN_FIELD(chars, "L", chars),
    DN_FIELD(text, "M", text),
    DN_FIELD(bytes, "N", bytes));

static scalars s;

/* Binds a value to one row, and expects the result `kind`. */
static void check_scalar(const char *value, size_t size, uint8_t row, dn_error kind, unsigned line)
{
    uint8_t copy[48];
    message_copy(value, size);
    memcpy(copy, message, size);
    message_allocate(size + 3);
    message[0] = 0xc1;
    message[1] = 0x81;
    message[2] = (uint8_t)('A' + row);
    memcpy(message + 3, copy, size);
    memset(&s, 0xee, sizeof s);
    bool bound = dn_bind(&r, message, message_size, &scalars_table, &s);
    test_check(bound == (kind == DN_OK), line, TEST_LITERAL("bound"));
    test_check_eq(r.error, kind, line, TEST_LITERAL("kind"));
    if (kind) test_check_eq(dn_error_offset(&r), 3, line, TEST_LITERAL("offset"));
    test_check(s.present == DN_BIT(row), line, TEST_LITERAL("present"));
    test_check((uint8_t)s.behind == 0xee, line, TEST_LITERAL("behind"));
}

#define ERROR(row, literal, kind) check_scalar(TEST_LITERAL("" literal), sizeof("" literal) - 1, row, kind, __LINE__)
#define GET(row, literal) ERROR(row, literal, DN_OK)

static void small_integers(void)
{
    GET(U8, "\x00"); CHECK_EQ(s.u8, 0);
    GET(U8, "\x1e"); CHECK_EQ(s.u8, 30);
    GET(U8, "\x1f\x1f"); CHECK_EQ(s.u8, 31);
    GET(U8, "\x1f\xff\x01"); CHECK_EQ(s.u8, 255);
    GET(U8, "\x1f\x05"); CHECK_EQ(s.u8, 5);
    GET(U8, "\x20"); CHECK_EQ(s.u8, 0);
    GET(U8, "\x40\x00\x00\x40\x42"); CHECK_EQ(s.u8, 48);
    ERROR(U8, "\x1f\x80\x02", DN_RANGE);
    ERROR(U8, "\x21", DN_RANGE);
    ERROR(U8, "\x1f\x81\x80\x80\x80\x10", DN_RANGE); /* 2^32+1 */
    ERROR(U8, "\x40\x00\x00\xbc\x41", DN_RANGE);
    ERROR(U8, "\x60", DN_WRONG_TYPE);
    ERROR(U8, "\x62", DN_WRONG_TYPE);
    ERROR(U8, "\x81\x01", DN_WRONG_TYPE);
    ERROR(U8, "\xe1\x01", DN_WRONG_TYPE);
    ERROR(U8, "\xc0", DN_WRONG_TYPE);
    GET(I8, "\x1e"); CHECK_EQ(s.i8, 30);
    GET(I8, "\x21"); CHECK_EQ(s.i8, -1);
    GET(I8, "\x3e"); CHECK_EQ(s.i8, -30);
    GET(I8, "\x20"); CHECK_EQ(s.i8, 0);
    GET(I8, "\x1f\x7f"); CHECK_EQ(s.i8, 127);
    GET(I8, "\x3f\x80\x01"); CHECK_EQ(s.i8, -128);
    ERROR(I8, "\x1f\x80\x01", DN_RANGE);
    ERROR(I8, "\x3f\x81\x01", DN_RANGE);
    ERROR(I8, "\x61", DN_WRONG_TYPE);
    GET(U16, "\x1f\xff\xff\x03"); CHECK_EQ(s.u16, 65535);
    ERROR(U16, "\x1f\x80\x80\x04", DN_RANGE);
    ERROR(U16, "\x3e", DN_RANGE);
    GET(I16, "\x1f\xff\xff\x01"); CHECK_EQ(s.i16, 32767);
    GET(I16, "\x3f\x80\x80\x02"); CHECK_EQ(s.i16, -32768);
    GET(I16, "\x3e"); CHECK_EQ(s.i16, -30);
    ERROR(I16, "\x1f\x80\x80\x02", DN_RANGE);
    ERROR(I16, "\x3f\x81\x80\x02", DN_RANGE);
    ERROR(I16, "\xa0", DN_WRONG_TYPE);
}

static void large_integers(void)
{
    GET(U32, "\x1e"); CHECK_EQ(s.u32, 30);
    GET(U32, "\x1f\xff\xff\xff\xff\x0f"); CHECK_EQ(s.u32, UINT32_MAX);
    ERROR(U32, "\x1f\x80\x80\x80\x80\x10", DN_RANGE);
    ERROR(U32, "\x21", DN_RANGE);
    GET(I32, "\x1f\xff\xff\xff\xff\x07"); CHECK_EQ(s.i32, INT32_MAX);
    GET(I32, "\x3f\x80\x80\x80\x80\x08"); CHECK_EQ(s.i32, INT32_MIN);
    GET(I32, "\x2b"); CHECK_EQ(s.i32, -11);
    ERROR(I32, "\x1f\x80\x80\x80\x80\x08", DN_RANGE);
    ERROR(I32, "\x3f\x81\x80\x80\x80\x08", DN_RANGE);
    ERROR(I32, "\x3f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DN_RANGE);
    GET(U64, "\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); CHECK_EQ(s.u64, UINT64_MAX);
    GET(U64, "\x07"); CHECK_EQ(s.u64, 7);
    ERROR(U64, "\x21", DN_RANGE);
    GET(I64, "\x1f\xff\xff\xff\xff\xff\xff\xff\xff\x7f"); CHECK_EQ(s.i64, INT64_MAX);
    GET(I64, "\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"); CHECK_EQ(s.i64, INT64_MIN);
    GET(I64, "\x21"); CHECK_EQ(s.i64, -1);
    ERROR(I64, "\x1f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", DN_RANGE);
    ERROR(I64, "\x3f\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01", DN_RANGE);
    ERROR(I64, "\x80", DN_WRONG_TYPE);
}

static void floats(void)
{
    GET(FLOAT, "\x40\x00\x00\x43\x42"); CHECK_DOUBLE(s.f, 48.75);
    GET(FLOAT, "\x40\x00\x00\x00\x80"); CHECK_DOUBLE(s.f, -0.0);
    GET(FLOAT, "\x40\x00\x00\x80\xff"); CHECK(s.f < -3.4e38f);
    GET(FLOAT, "\x40\x00\x00\xc0\x7f"); CHECK(s.f != s.f);
    GET(FLOAT, "\x18"); CHECK_DOUBLE(s.f, 24);
    GET(FLOAT, "\x22"); CHECK_DOUBLE(s.f, -2);
    GET(FLOAT, "\x41\x00\x00\x00\x00\x00\x60\x48\x40"); CHECK_DOUBLE(s.f, 48.75);
    ERROR(FLOAT, "\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f", DN_RANGE);
    ERROR(FLOAT, "\x1f\x81\x80\x80\x08", DN_RANGE); /* 2^24+1 */
    ERROR(FLOAT, "\x61", DN_WRONG_TYPE);
    ERROR(FLOAT, "\x84" "48.7", DN_WRONG_TYPE);
    GET(DOUBLE, "\x40\x00\x00\x43\x42"); CHECK_DOUBLE(s.d, 48.75);
    GET(DOUBLE, "\x18"); CHECK_DOUBLE(s.d, 24);
#if !defined(__AVR__) /* its double is a float */
    GET(DOUBLE, "\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f"); CHECK_DOUBLE(s.d, 1.03);
#endif
    ERROR(DOUBLE, "\x62", DN_WRONG_TYPE);
}

static void booleans(void)
{
    GET(BOOL, "\x61"); CHECK_EQ(s.b, true);
    GET(BOOL, "\x60"); CHECK_EQ(s.b, false);
    ERROR(BOOL, "\x62", DN_WRONG_TYPE);
    ERROR(BOOL, "\x63", DN_MALFORMED);
    ERROR(BOOL, "\x01", DN_WRONG_TYPE);
}

static void texts(void)
{
    GET(CHARS, "\x80"); CHECK_STR(s.chars, "");
    GET(CHARS, "\x85" "abcde"); CHECK_STR(s.chars, "abcde");
    GET(CHARS, "\x9f\x05" "abcde"); CHECK_STR(s.chars, "abcde");
    GET(CHARS, "\x84" "a\xc3\xa9" "b"); CHECK_STR(s.chars, "a\xc3\xa9" "b");
    ERROR(CHARS, "\x86" "abcdef", DN_RANGE);
    ERROR(CHARS, "\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde", DN_RANGE);
    ERROR(CHARS, "\x83" "a\x00" "b", DN_RANGE); CHECK_STR(s.chars, "");
    ERROR(CHARS, "\x82" "a\xff", DN_MALFORMED);
    ERROR(CHARS, "\xa2" "ab", DN_WRONG_TYPE); CHECK_STR(s.chars, "");
    ERROR(CHARS, "\x05", DN_WRONG_TYPE);
    GET(TEXT, "\x83" "a\x00" "b"); CHECK_BYTES(s.text.data, s.text.size, "a\x00" "b"); CHECK(s.text.data == message + 4);
    GET(TEXT, "\x80"); CHECK_EQ(s.text.size, 0);
    GET(TEXT, "\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde"); CHECK_EQ(s.text.size, 31);
    ERROR(TEXT, "\xa2" "ab", DN_WRONG_TYPE); CHECK_EQ(s.text.size, 0); CHECK(s.text.data == NULL);
    ERROR(TEXT, "\x82\xc3\x28", DN_MALFORMED);
    GET(BYTES, "\xa3\x00\xff\x80"); CHECK_BYTES(s.bytes.data, s.bytes.size, "\x00\xff\x80");
    ERROR(BYTES, "\x82" "ab", DN_WRONG_TYPE);
    ERROR(BYTES, "\x00", DN_WRONG_TYPE);
}

int main(void)
{
    TEST(small_integers);
    TEST(large_integers);
    TEST(floats);
    TEST(booleans);
    TEST(texts);
    free(message);
    return test_end("store");
}
