/* dn_reader_strict: rejects exactly the messages that are not canonical. */
#include "dn_pson.h"

#include <float.h>

#include "message.h"

/* Reads the whole message. Returns the kind of the error, and its offset in `*offset`. */
static dn_error read_message(bool strict, size_t *offset)
{
    dn_reader r;
    dn_reader_init(&r, message, message_size);
    if (strict) dn_reader_strict(&r);
    while (dn_next(&r)) {}
    dn_done(&r);
    *offset = dn_error_offset(&r);
    return r.error;
}

static void check_canonical(unsigned line)
{
    size_t offset;
    test_check(read_message(false, &offset) == DN_OK, line, TEST_LITERAL("lenient"));
    test_check(read_message(true, &offset) == DN_OK, line, TEST_LITERAL("strict"));
}

static void check_rejected(size_t expected, unsigned line)
{
    size_t offset;
    test_check(read_message(false, &offset) == DN_OK, line, TEST_LITERAL("lenient"));
    test_check(read_message(true, &offset) == DN_MALFORMED, line, TEST_LITERAL("strict"));
    test_check_eq(offset, expected, line, TEST_LITERAL("offset"));
}

#define CANONICAL(literal) (MESSAGE(literal), check_canonical(__LINE__))
#define REJECTED(literal, offset) (MESSAGE(literal), check_rejected(offset, __LINE__))

static void varints(void)
{
    CANONICAL("\x00");
    CANONICAL("\x1e");
    CANONICAL("\x1f\x1f");
    CANONICAL("\x1f\x7f");
    CANONICAL("\x1f\x80\x01");
    CANONICAL("\x1f\xff\xff\xff\xff\x0f");
    CANONICAL("\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    CANONICAL("\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    REJECTED("\x1f\x00", 0);
    REJECTED("\x1f\x1e", 0);
    REJECTED("\x1f\x9f\x00", 0);
    REJECTED("\x1f\x80\x00", 0);
    REJECTED("\x1f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0);
    REJECTED("\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 0);
    REJECTED("\x3f\x00", 0);
    REJECTED("\x3f\x01", 0);
    REJECTED("\x3f\x80\x00", 0);
    REJECTED("\x3f\xa0\x00", 0);
    REJECTED("\x9f\x01" "a", 0);
    REJECTED("\x9f\x81\x00" "a", 0);
    REJECTED("\xbf\x00", 0);
    REJECTED("\xbf\x80\x00", 0);
    REJECTED("\xdf\x00", 0);
    REJECTED("\xdf\x81\x00\x81" "a\x00", 0);
    REJECTED("\xff\x01\x00", 0);
    REJECTED("\xe2\x00\xff\x00", 2);
    REJECTED("\xc1\x9f\x01" "a\x00", 1);
    CANONICAL("\xff\x1f" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0");
    CANONICAL("\x9f\x1f" "abcdefghijklmnopqrstuvwxyzabcde");
}

static void zeros(void)
{
    REJECTED("\x20", 0);
    REJECTED("\xe2\x00\x20", 2);
    CANONICAL("\x21");
    CANONICAL("\x3e");
    CANONICAL("\x3f\x1f");
    CANONICAL("\x60");
    CANONICAL("\x62");
}

static void known_floats(void)
{
    CANONICAL("\x40\x00\x00\xc0\x7f"); /* NaN */
    CANONICAL("\x40\x00\x00\x80\x7f"); /* infinities */
    CANONICAL("\x40\x00\x00\x80\xff");
    CANONICAL("\x40\x00\x00\x00\x80"); /* -0 */
    CANONICAL("\x40\x00\x00\xbc\x41"); /* 23.5 */
    CANONICAL("\x41\x7b\x14\xae\x47\xe1\x7a\xf0\x3f"); /* 1.03 */
    REJECTED("\x40\x01\x00\xc0\x7f", 0);
    REJECTED("\x40\x00\x00\xc0\xff", 0);
    REJECTED("\x40\x01\x00\x80\x7f", 0);
    REJECTED("\x40\x00\x00\x00\x00", 0); /* 0 */
    REJECTED("\x40\x00\x00\x80\x3f", 0); /* 1 */
    REJECTED("\xe2\x00\x40\x00\x00\x40\x42", 2); /* 48 */
    REJECTED("\x41\x00\x00\x00\x00\x00\x00\xf8\x7f", 0); /* NaN */
    REJECTED("\x41\x01\x00\x00\x00\x00\x00\xf0\x7f", 0);
    REJECTED("\x41\x00\x00\x00\x00\x00\x00\xf0\xff", 0);
    REJECTED("\x41\x00\x00\x00\x00\x00\x00\x00\x00", 0);
    REJECTED("\x41\x00\x00\x00\x00\x00\x00\x00\x80", 0); /* -0 */
    REJECTED("\x41\x00\x00\x00\x00\x00\x00\xf8\x3f", 0); /* 1.5 */
    REJECTED("\x41\x00\x00\x00\x10\x00\x00\x70\x41", 0); /* 2^24+1 is whole, though not a binary32 */
    CANONICAL("\x41\x00\x00\x00\x18\x00\x00\x70\x41"); /* 2^24+1.5 */
    CANONICAL("\x41\x01\x00\x00\x00\x00\x00\x00\x00"); /* denormal */
}

/* The first fault is reported. */
static void order(void)
{
    size_t offset;
    MESSAGE("\x9f\x05" "ab"); /* before the missing bytes */
    CHECK_EQ(read_message(false, &offset), DN_TRUNCATED);
    CHECK_EQ(read_message(true, &offset), DN_MALFORMED);
    CHECK_EQ(offset, 0);
    MESSAGE("\xe1\x1f\x80"); /* after the varint */
    CHECK_EQ(read_message(true, &offset), DN_TRUNCATED);
    CHECK_EQ(offset, 3);
    MESSAGE("\x40\x00\x00\x80"); /* after the bytes of the float */
    CHECK_EQ(read_message(true, &offset), DN_TRUNCATED);
    CHECK_EQ(offset, 4);
    MESSAGE("\xe2\x20\x63"); /* before the next item */
    CHECK_EQ(read_message(false, &offset), DN_MALFORMED);
    CHECK_EQ(offset, 2);
    CHECK_EQ(read_message(true, &offset), DN_MALFORMED);
    CHECK_EQ(offset, 1);
    MESSAGE("\xc1\x1f\x01\x00"); /* after the header of the key */
    CHECK_EQ(read_message(true, &offset), DN_MALFORMED);
    CHECK_EQ(offset, 1);
}

#if !defined(__AVR__) /* its double is a float */

static bool is_integer(double number)
{
    if (number == 0) return false; /* the caller distinguishes 0 and -0 */
    if (number < -9223372036854775808.0 || number >= 18446744073709551616.0) return false;
    if (number < 9223372036854775808.0) return (double)(int64_t)number == number;
    return true;
}

static bool is_canonical_single(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    if (number != number) return bits == 0x7fc00000;
    if (number == 0) return bits != 0;
    return !is_integer((double)number);
}

static bool is_canonical_double(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    if (number != number || number == 0) return false;
    if (is_integer(number)) return false;
    if (number > DBL_MAX || number < -DBL_MAX) return false;
    if (number > (double)FLT_MAX || number < -(double)FLT_MAX) return true;
    return (double)(float)number != number;
}

static uint32_t floats, wrong;

static void check_float(uint8_t header, uint64_t bits)
{
    uint8_t item[9];
    uint8_t size = header == 0x40 ? 5 : 9;
    item[0] = header;
    for (uint8_t i = 1; i < size; i++) item[i] = (uint8_t)(bits >> 8 * (i - 1));
    dn_reader r;
    dn_reader_init(&r, item, size);
    dn_reader_strict(&r);
    dn_next(&r);
    bool expected = header == 0x40 ? is_canonical_single((uint32_t)bits) : is_canonical_double(bits);
    floats++;
    wrong += expected ? r.error != DN_OK : r.error != DN_MALFORMED || dn_error_offset(&r) != 0;
}

/* Every sign and exponent, with mantissas whose ones begin, end or are interrupted at every bit. */
static void check_all_exponents(uint8_t header, uint8_t exponent_bits, uint8_t mantissa_bits)
{
    uint64_t ones = ((uint64_t)1 << mantissa_bits) - 1;
    for (uint64_t exponent = 0; exponent < (uint64_t)2 << exponent_bits; exponent++) {
        uint64_t head = exponent << mantissa_bits;
        check_float(header, head);
        for (uint8_t bit = 0; bit < mantissa_bits; bit++) {
            uint64_t one = (uint64_t)1 << bit;
            check_float(header, head | one);
            check_float(header, head | (one - 1));
            check_float(header, head | (ones & ~(one - 1)));
            check_float(header, head | one | (uint64_t)1 << (mantissa_bits - 1));
        }
    }
}

static void floats_of_every_exponent(void)
{
    floats = wrong = 0;
    check_all_exponents(0x40, 8, 23);
    CHECK_EQ(floats, 512 * (1 + 4 * 23));
    CHECK_EQ(wrong, 0);
    floats = wrong = 0;
    check_all_exponents(0x41, 11, 52);
    CHECK_EQ(floats, 4096 * (1 + 4 * 52));
    CHECK_EQ(wrong, 0);
}

static void random_floats(void)
{
    uint32_t seed = 1;
    floats = wrong = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t bits = (uint64_t)message_random(&seed) << 32 | message_random(&seed);
        check_float(0x40, bits & 0xffffffff);
        check_float(0x41, bits);
    }
    CHECK_EQ(wrong, 0);
}
#endif

int main(void)
{
    TEST(varints);
    TEST(zeros);
    TEST(known_floats);
    TEST(order);
#if !defined(__AVR__)
    TEST(floats_of_every_exponent);
    TEST(random_floats);
#endif
    free(message);
    return test_end("strict");
}
