/* The getters of numbers and floats: floats as integers, integers as floats, binary64 as binary32, only if nothing is lost. */
#include <float.h>
#include <math.h>

#include "read_item.h"

static void whole_floats_are_integers(void)
{
    GIVES(FLOAT(0x00000000), dn_read_u8(&r), 0);
    GIVES(FLOAT(0x00000000), dn_read_i64(&r), 0);
    GIVES(FLOAT(0x3f800000), dn_read_u8(&r), 1);
    GIVES(FLOAT(0xbf800000), dn_read_i8(&r), -1);
    OUT_OF_RANGE(FLOAT(0xbf800000), dn_read_u8(&r));
    OUT_OF_RANGE(FLOAT(0xbf800000), dn_read_u64(&r));
    GIVES(FLOAT(0x4b7fffff), dn_read_u32(&r), 0xffffff);
    GIVES(FLOAT(0x4b800000), dn_read_u32(&r), 0x1000000);
    GIVES(FLOAT(0x4f7fffff), dn_read_u32(&r), 0xffffff00);
    OUT_OF_RANGE(FLOAT(0x4f800000), dn_read_u32(&r));
    GIVES(FLOAT(0x4f800000), dn_read_u64(&r), TWO(32));
    OUT_OF_RANGE(FLOAT(0x4f000000), dn_read_i32(&r)); /* 2^31 */
    GIVES(FLOAT(0xcf000000), dn_read_i32(&r), INT32_MIN);
    OUT_OF_RANGE(FLOAT(0xcf000001), dn_read_i32(&r));
    GIVES(FLOAT(0x5f7fffff), dn_read_u64(&r), 0xffffff0000000000u);
    OUT_OF_RANGE(FLOAT(0x5f800000), dn_read_u64(&r)); /* 2^64 */
    OUT_OF_RANGE(FLOAT(0x5f000000), dn_read_i64(&r));
    GIVES(FLOAT(0xdf000000), dn_read_i64(&r), INT64_MIN);
    OUT_OF_RANGE(FLOAT(0xdf000001), dn_read_i64(&r));
}

static void whole_doubles_are_integers(void)
{
    GIVES(DOUBLE(0), dn_read_u8(&r), 0);
    GIVES(DOUBLE(0), dn_read_u64(&r), 0);
    GIVES(DOUBLE(0x3ff0000000000000u), dn_read_u8(&r), 1);
    GIVES(DOUBLE(0xc008000000000000u), dn_read_i8(&r), -3);
    GIVES(DOUBLE(0x41efffffffe00000u), dn_read_u32(&r), UINT32_MAX);
    OUT_OF_RANGE(DOUBLE(0x41effffffff00000u), dn_read_u32(&r)); /* 2^32 - 0.5 */
    OUT_OF_RANGE(DOUBLE(0x41efffffffe00001u), dn_read_u32(&r));
    OUT_OF_RANGE(DOUBLE(0x41f0000000000000u), dn_read_u32(&r));
    GIVES(DOUBLE(0x41f0000000000000u), dn_read_u64(&r), TWO(32));
    GIVES(DOUBLE(0x41dfffffffc00000u), dn_read_i32(&r), INT32_MAX);
    OUT_OF_RANGE(DOUBLE(0x41e0000000000000u), dn_read_i32(&r));
    GIVES(DOUBLE(0xc1e0000000000000u), dn_read_i32(&r), INT32_MIN);
    OUT_OF_RANGE(DOUBLE(0xc1e0000000200000u), dn_read_i32(&r));
    GIVES(DOUBLE(0x433fffffffffffffu), dn_read_u64(&r), TWO(53) - 1);
    GIVES(DOUBLE(0x4340000000000001u), dn_read_u64(&r), TWO(53) + 2);
    GIVES(DOUBLE(0x43efffffffffffffu), dn_read_u64(&r), UINT64_MAX - 0x7ff);
    OUT_OF_RANGE(DOUBLE(0x43f0000000000000u), dn_read_u64(&r));
    OUT_OF_RANGE(DOUBLE(0x43e0000000000000u), dn_read_i64(&r));
    GIVES(DOUBLE(0xc3e0000000000000u), dn_read_i64(&r), INT64_MIN);
    OUT_OF_RANGE(DOUBLE(0xc3e0000000000001u), dn_read_i64(&r));
}

/* Fractions, -0.0, denormals, infinities, NaN. */
static void other_floats_are_not_integers(void)
{
    static const uint32_t floats[] = {0x80000000, 0x3f000000, 0x3f7fffff, 0x3f800001, 0x4affffff, 0x00000001, 0x007fffff,
                                      0x80000001, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001};
    for (uint8_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (uint8_t wide = 0; wide < 2; wide++) {
            uint64_t bits = floats[i];
            /* As a binary64, with the same sign and of the same kind. */
            if (wide) bits = (bits & 0x80000000) << 32 | (bits & 0x7fffffff ? (bits & 0x7fffffff) << 29 : 0);
            if (wide && (floats[i] & 0x7f800000)) bits += (floats[i] & 0x7f800000) == 0x7f800000 ? (uint64_t)0x700 << 52 : (uint64_t)0x380 << 52;
            OUT_OF_RANGE(bits_item(0x40 | wide, bits), dn_read_u32(&r));
            OUT_OF_RANGE(bits_item(0x40 | wide, bits), dn_read_i32(&r));
            OUT_OF_RANGE(bits_item(0x40 | wide, bits), dn_read_u64(&r));
            OUT_OF_RANGE(bits_item(0x40 | wide, bits), dn_read_i64(&r));
        }
}

static void floats_hold_24_bits(void)
{
    GIVES_FLOAT(UINT(0), dn_read_float(&r), 0.0f);
    GIVES_FLOAT(NEGATIVE(1), dn_read_float(&r), -1.0f);
    GIVES_FLOAT(UINT(TWO(24) - 1), dn_read_float(&r), 16777215.0f);
    GIVES_FLOAT(UINT(TWO(24)), dn_read_float(&r), 16777216.0f);
    OUT_OF_RANGE(UINT(TWO(24) + 1), dn_read_float(&r));
    GIVES_FLOAT(UINT(TWO(24) + 2), dn_read_float(&r), 16777218.0f);
    OUT_OF_RANGE(NEGATIVE(TWO(24) + 1), dn_read_float(&r));
    GIVES_FLOAT(NEGATIVE(TWO(31)), dn_read_float(&r), -2147483648.0f);
    OUT_OF_RANGE(UINT(UINT32_MAX), dn_read_float(&r));
    GIVES_FLOAT(UINT(TWO(32)), dn_read_float(&r), 4294967296.0f);
    OUT_OF_RANGE(UINT(TWO(32) + 1), dn_read_float(&r));
    GIVES_FLOAT(UINT(0xffffff0000000000u), dn_read_float(&r), 18446742974197923840.0f);
    OUT_OF_RANGE(UINT(0xffffff8000000000u), dn_read_float(&r));
    OUT_OF_RANGE(UINT(UINT64_MAX), dn_read_float(&r));
    GIVES_FLOAT(NEGATIVE(TWO(63)), dn_read_float(&r), -9223372036854775808.0f);
    GIVES_FLOAT(NEGATIVE(TWO(63) + TWO(40)), dn_read_float(&r), -9223373136366403584.0f); /* below -2^63 */
    OUT_OF_RANGE(NEGATIVE(UINT64_MAX), dn_read_float(&r));
}

static void doubles_as_floats_are_exact(void)
{
    GIVES_FLOAT(FLOAT(0x41bc0000), dn_read_float(&r), 23.5f);
    GIVES_FLOAT(FLOAT(0x80000000), dn_read_float(&r), -0.0f);
    GIVES_FLOAT(FLOAT(0x00000001), dn_read_float(&r), (float)1.40129846e-45);
    GIVES_FLOAT(FLOAT(0xff800000), dn_read_float(&r), -INFINITY);
    GIVES_FLOAT(FLOAT(0x7f800001), dn_read_float(&r), NAN);
    GIVES_FLOAT(DOUBLE(0x4037800000000000u), dn_read_float(&r), 23.5f);
    GIVES_FLOAT(DOUBLE(0), dn_read_float(&r), 0.0f);
    GIVES_FLOAT(DOUBLE(0x8000000000000000u), dn_read_float(&r), -0.0f);
    GIVES_FLOAT(DOUBLE(0x7ff0000000000000u), dn_read_float(&r), INFINITY);
    GIVES_FLOAT(DOUBLE(0xfff0000000000000u), dn_read_float(&r), -INFINITY);
    GIVES_FLOAT(DOUBLE(0x7ff8000000000000u), dn_read_float(&r), NAN);
    GIVES_FLOAT(DOUBLE(0xfff0000000000001u), dn_read_float(&r), NAN);
    OUT_OF_RANGE(DOUBLE(0x3ff07ae147ae147bu), dn_read_float(&r)); /* 1.03 */
    OUT_OF_RANGE(DOUBLE(0x3ff0000010000000u), dn_read_float(&r)); /* 1 + 2^-24, halfway to the next binary32 */
    GIVES_FLOAT(DOUBLE(0x47efffffe0000000u), dn_read_float(&r), FLT_MAX);
    OUT_OF_RANGE(DOUBLE(0x47f0000000000000u), dn_read_float(&r)); /* 2^128 */
    GIVES_FLOAT(DOUBLE(0x3810000000000000u), dn_read_float(&r), FLT_MIN);
    GIVES_FLOAT(DOUBLE(0x380fffffc0000000u), dn_read_float(&r), (float)1.17549421e-38); /* the largest denormal */
    OUT_OF_RANGE(DOUBLE(0x380fffffe0000000u), dn_read_float(&r));
    GIVES_FLOAT(DOUBLE(0xb6a0000000000000u), dn_read_float(&r), (float)-1.40129846e-45); /* the smallest denormal */
    OUT_OF_RANGE(DOUBLE(0x36a8000000000000u), dn_read_float(&r));
    OUT_OF_RANGE(DOUBLE(0x3690000000000000u), dn_read_float(&r));
    OUT_OF_RANGE(DOUBLE(0x0000000000000001u), dn_read_float(&r));
}

/* Where double has 32 bits, dn_read_double rejects numbers that need more. */
#if DBL_MANT_DIG >= 53
#define WIDE_DOUBLE(item, expected) GIVES_FLOAT(item, dn_read_double(&r), expected)
#else
#define WIDE_DOUBLE(item, expected) OUT_OF_RANGE(item, dn_read_double(&r))
#endif

static void doubles(void)
{
    GIVES_FLOAT(UINT(48), dn_read_double(&r), 48.0);
    GIVES_FLOAT(NEGATIVE(TWO(24)), dn_read_double(&r), -16777216.0);
    WIDE_DOUBLE(UINT(TWO(24) + 1), 16777217.0);
    WIDE_DOUBLE(UINT(UINT32_MAX), 4294967295.0);
    WIDE_DOUBLE(UINT(TWO(53) - 1), 9007199254740991.0);
    GIVES_FLOAT(UINT(TWO(53)), dn_read_double(&r), 9007199254740992.0);
    OUT_OF_RANGE(UINT(TWO(53) + 1), dn_read_double(&r));
    WIDE_DOUBLE(NEGATIVE(TWO(53) + 2), -9007199254740994.0);
    OUT_OF_RANGE(UINT(TWO(63) - 1), dn_read_double(&r));
    GIVES_FLOAT(UINT(TWO(63)), dn_read_double(&r), 9223372036854775808.0);
    WIDE_DOUBLE(UINT(UINT64_MAX - 0x7ff), 18446744073709549568.0);
    OUT_OF_RANGE(UINT(UINT64_MAX), dn_read_double(&r));
    OUT_OF_RANGE(NEGATIVE(TWO(63) + 1), dn_read_double(&r));
    WIDE_DOUBLE(NEGATIVE(TWO(63) + 0x800), -9223372036854777856.0); /* below -2^63 */
    GIVES_FLOAT(FLOAT(0x41bc0000), dn_read_double(&r), 23.5);
    GIVES_FLOAT(FLOAT(0x80000000), dn_read_double(&r), -0.0);
    GIVES_FLOAT(FLOAT(0x80000001), dn_read_double(&r), -1.401298464324817e-45);
    GIVES_FLOAT(FLOAT(0x7f800000), dn_read_double(&r), INFINITY);
    GIVES_FLOAT(FLOAT(0x7fc00000), dn_read_double(&r), NAN);
    WIDE_DOUBLE(DOUBLE(0x3ff07ae147ae147bu), 1.03);
    WIDE_DOUBLE(DOUBLE(0x7fefffffffffffffu), DBL_MAX);
    WIDE_DOUBLE(DOUBLE(0x8000000000000001u), -4.9406564584124654e-324);
    GIVES_FLOAT(DOUBLE(0x8000000000000000u), dn_read_double(&r), -0.0);
    GIVES_FLOAT(DOUBLE(0xfff0000000000000u), dn_read_double(&r), -INFINITY);
    GIVES_FLOAT(DOUBLE(0xfff8000000000001u), dn_read_double(&r), NAN);
}

#if DBL_MANT_DIG == 53

static double random_double(uint32_t *seed)
{
    uint64_t bits = (uint64_t)message_random(seed) << 32 | message_random(seed);
    uint64_t exponent = message_random(seed) % 8 ? 1015 + message_random(seed) % 80 : message_random(seed) % 2048;
    bits &= ~(uint64_t)0 << message_random(seed) % 64; /* few significant bits, so that many numbers are whole */
    bits = (bits & 0x800fffffffffffffu) | exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The getters, which work on bits, agree with the compiler's conversions. */
static void random_doubles(void)
{
    uint32_t seed = 2021;
    unsigned whole = 0, narrow = 0;
    for (unsigned round = 0; round < 20000; round++) {
        double value = random_double(&seed);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        bool zero = value == 0 && bits; /* -0.0 */
        bool i64 = value >= -9223372036854775808.0 && value < 9223372036854775808.0 && (double)(int64_t)value == value && !zero;
        bool i32 = value >= -2147483648.0 && value < 2147483648.0 && (double)(int32_t)value == value && !zero;
        if (i64) GIVES(DOUBLE(bits), dn_read_i64(&r), (int64_t)value);
        else OUT_OF_RANGE(DOUBLE(bits), dn_read_i64(&r));
        if (i32) GIVES(DOUBLE(bits), dn_read_i32(&r), (int32_t)value);
        else OUT_OF_RANGE(DOUBLE(bits), dn_read_i32(&r));
        bool f32 = value != value || (double)(float)value == value;
        if (f32) GIVES_FLOAT(DOUBLE(bits), dn_read_float(&r), value);
        else OUT_OF_RANGE(DOUBLE(bits), dn_read_float(&r));
        whole += i64;
        narrow += f32;
    }
    CHECK(whole > 1000 && narrow > 1000);
}

static void random_integers_as_floats(void)
{
    uint32_t seed = 4559;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t n = (uint64_t)message_random(&seed) << 32 | message_random(&seed);
        n &= ~(uint64_t)0 << message_random(&seed) % 64;
        n >>= message_random(&seed) % 64;
        uint64_t odd = n;
        while (odd && !(odd & 1)) odd >>= 1;
        if (odd < TWO(24)) GIVES_FLOAT(UINT(n), dn_read_float(&r), (float)n);
        else OUT_OF_RANGE(UINT(n), dn_read_float(&r));
        if (odd < TWO(53)) GIVES_FLOAT(UINT(n), dn_read_double(&r), (double)n);
        else OUT_OF_RANGE(UINT(n), dn_read_double(&r));
    }
}
#endif

int main(void)
{
    TEST(whole_floats_are_integers);
    TEST(whole_doubles_are_integers);
    TEST(other_floats_are_not_integers);
    TEST(floats_hold_24_bits);
    TEST(doubles_as_floats_are_exact);
    TEST(doubles);
#if DBL_MANT_DIG == 53
    TEST(random_doubles);
    TEST(random_integers_as_floats);
#endif
    free(message);
    return test_end("read_float");
}
