/* Compares decimals with strtod and printf of the host, which are exact in glibc and musl. The first argument is the number of random
 * values; with a second argument n, every n-th binary32 is printed: 1 takes about an hour. */
#include "dn_decimal.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static int count = 30000; /* number of random values */
static uint32_t step; /* every step-th binary32 is printed; 0 for none */

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Returns the bits of `text`, a JSON number without a sign. */
static uint64_t parse(const char *text, bool *exact)
{
    dn__decimal d;
    bool fraction = false;
    dn__decimal_init(&d);
    for (; *text && *text != 'e'; text++) {
        if (*text == '.') fraction = true;
        else dn__decimal_digit(&d, (uint8_t)(*text - '0'), fraction);
    }
    if (*text) d.exponent += (int32_t)strtol(text + 1, NULL, 10);
    return dn__decimal_bits(&d, exact);
}

static void check_read_like_strtod(const char *text)
{
    bool exact;
    double value = strtod(text, NULL);
    uint64_t bits = parse(text, &exact);
    bool is_zero = strspn(text, "0.") == strcspn(text, "e");
    if (value == 0 && !is_zero && bits) value = HUGE_VAL; /* too small: the result is DN__INFINITY; only a decimal exactly halfway to 0 becomes 0 */
    CHECK(bits == bits_from_double(value));
    if (bits != bits_from_double(value)) printf("%.60s... is %a, not %a\n", text, value, double_from_bits(bits));
    if (isinf(value)) CHECK(!exact);
}

static void known_texts(void)
{
    static const char *const texts[] = {
        "0", "0.0", "0e999999", "1", "10", "0.1", "23.56", "1e22", "1e23", "123456789012345678901234567890", "9007199254740993",
        "9007199254740992.999999999999999999999", "9007199254740993.000000000000000000001", "1.7976931348623157e308",
        "1.7976931348623158e308", "1.7976931348623159e308", "179769313486231580793728971405303415079934132710037826936173778980444968"
        "292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475"
        "730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880e0", "1e309", "1e400", "1e1000000",
        "2.2250738585072011e-308", "2.2250738585072012e-308", "2.2250738585072014e-308", "2.225073858507201136057409796709131975934819546"
        "351645648023426109724822222021076945516529523908135087914149158913039621106870086438694594645527657207407820621743379988141063267"
        "329253552286881372149012981122451451889849057222307285255133155755015914397476397983411801999323962548289017107081850690630666655"
        "994938275772572015763062690663332647565300009245888316433037779791869612049497390377829704905051080609940730262937128958950003583"
        "799967207254304360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368622"
        "321503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243330660339850886445804001034"
        "933970427567186443383770486037861622771738545623065874679014086723327636718751234567890123456789012345678901e-308",
        "5e-324", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.4703282292062327208e-324",
        "2.4703282292062327209e-324", "1e-323", "1e-324", "1e-400", "1e-1000000", "7.2057594037927933e16", "8.5e-320",
        "6929495644600919.5", "3.518437208883201171875e13", "358416272e-33", "0.000000000000000000000000000000000000001e39", "100000e-5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_read_like_strtod(texts[i]);
}

static void exactness(void)
{
    bool exact;
    CHECK(parse("18446744073709551616", &exact) == bits_from_double(18446744073709551616.0) && exact);
    parse("18446744073709551617", &exact);
    CHECK(!exact);
    CHECK(parse("0.5", &exact) == bits_from_double(0.5) && exact);
    parse("0.1", &exact);
    CHECK(!exact);
    CHECK(parse("1e23", &exact) == bits_from_double(1e23) && !exact);
    CHECK(parse("1e22", &exact) == bits_from_double(1e22) && exact);
    CHECK(parse("0", &exact) == 0 && exact);
    CHECK(parse("1e-400", &exact) == DN__INFINITY && !exact);
    CHECK(parse("1e400", &exact) == DN__INFINITY && !exact);
    CHECK(parse("17.9769313486231571e307", &exact) == bits_from_double(1.7976931348623157e308));
    CHECK(parse("179769313486231590000e289", &exact) == DN__INFINITY && !exact);

    uint64_t n;
    dn__decimal d;
    dn__decimal_init(&d);
    CHECK(dn__decimal_integer(&d, &n) && n == 0);
    for (const char *c = "18446744073709551615"; *c; c++) dn__decimal_digit(&d, (uint8_t)(*c - '0'), false);
    CHECK(dn__decimal_integer(&d, &n) && n == UINT64_MAX);
    dn__decimal_digit(&d, 0, false);
    CHECK(!dn__decimal_integer(&d, &n));
}

/* Reads the decimal exactly halfway between the positive `value` and the next binary64, one slightly above it, and one slightly below
 * it. */
static void check_read_around_halfway(double value)
{
    enum { WHOLE = 310, PLACES = 1080 };
    static char a[WHOLE + PLACES + 8], b[WHOLE + PLACES + 8], text[WHOLE + PLACES + 64];
    double next = double_from_bits(bits_from_double(value) + 1);
    if (isinf(next)) return;
    snprintf(a, sizeof a, "%0*.*f", WHOLE + PLACES + 1, PLACES, value);
    snprintf(b, sizeof b, "%0*.*f", WHOLE + PLACES + 1, PLACES, next);
    int carry = 0, length = WHOLE + PLACES + 1;
    for (int i = length - 1; i >= 0; i--) {
        if (a[i] == '.') continue;
        int sum = a[i] + b[i] - 2 * '0' + carry;
        carry = sum / 10;
        a[i] = (char)('0' + sum % 10);
    }
    /* The first digit is 0, so that no carry is left. */
    int rest = 0;
    for (int i = 0; i < length; i++) {
        if (a[i] == '.') {
            text[i] = '.';
            continue;
        }
        int digit = rest * 10 + a[i] - '0';
        text[i] = (char)('0' + digit / 2);
        rest = digit % 2;
    }
    CHECK(rest == 0);
    text[length] = 0;
    check_read_like_strtod(text);
    strcpy(text + length, "00000000000000000000000000000000001");
    check_read_like_strtod(text);
    int last = length - 1;
    while (text[last] == '0' || text[last] == '.') last--;
    text[last]--;
    text[length] = 0;
    for (int i = last + 1; i < length; i++)
        if (text[i] != '.') text[i] = '9';
    check_read_like_strtod(text);
}

static void around_halfway(void)
{
    for (int i = 0; i < count / 50; i++) {
        uint64_t bits = random64() >> 1;
        if (i % 3 == 1) bits &= 0x000fffffffffffffu; /* subnormal */
        if (i % 3 == 2) bits = bits_from_double((double)(random64() >> (i % 40)));
        if (bits < 0x7ff0000000000000u) check_read_around_halfway(double_from_bits(bits));
    }
    check_read_around_halfway(0);
    check_read_around_halfway(double_from_bits(0x000fffffffffffffu));
    check_read_around_halfway(double_from_bits(0x7feffffffffffffeu));
}

static void random_texts(void)
{
    static char text[1300];
    for (int i = 0; i < count; i++) {
        int length = i % 100 ? (int)(random64() % 40) + 1 : (int)(random64() % 1200) + 1;
        int point = (int)(random64() % (unsigned)(length + 1));
        char *to = text;
        for (int k = 0; k < length; k++) {
            if (k == point) *to++ = '.';
            uint64_t digit = random64() % 16;
            *to++ = (char)('0' + (digit > 9 ? 0 : digit));
        }
        int exponent = i % 4 == 0 ? 0 : (int)(random64() % 740) - 370 + (i % 8 == 1 ? point - length : 0);
        if (exponent || i % 2) to += snprintf(to, 16, "e%d", exponent);
        *to = 0;
        check_read_like_strtod(text);
    }
}

/* ---- Printing -------------------------------------------------------------------------------------------------------------------- */

static const char *print_to_text(uint64_t bits)
{
    static char text[DN__NUMBER_TEXT + 1];
    memset(text, 'x', sizeof text);
    uint8_t length = dn__print_double(bits, text);
    CHECK(length <= DN__NUMBER_TEXT);
    text[length] = 0;
    return text;
}

/* Copies the significant digits of `text` without leading and trailing zeros. Returns their number. */
static int copy_digits(const char *text, char *to)
{
    char *at = to;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (at > to || *text != '0')) *at++ = *text;
    while (at > to && at[-1] == '0') at--;
    *at = 0;
    return (int)(at - to);
}

static void check_shortest(uint64_t bits)
{
    double value = double_from_bits(bits);
    const char *text = print_to_text(bits);
    CHECK(bits_from_double(strtod(text, NULL)) == bits);
    bool exact;
    CHECK((parse(text + (*text == '-'), &exact) | (bits & (uint64_t)1 << 63)) == bits);
    if (!strpbrk(text, ".e")) return; /* an integer, printed in full */

    char best[32], best_digits[32], digits[32];
    int precision = 0;
    do snprintf(best, sizeof best, "%.*e", precision++, value);
    while (strtod(best, NULL) != value);
    int length = copy_digits(text, digits);
    CHECK(length <= precision);
    /* With the same number of digits, printf prints the nearest decimal. */
    if (length == precision) CHECK(copy_digits(best, best_digits) == length && strcmp(best_digits, digits) == 0);
    /* Fewer digits than printf needs for its nearest decimal are possible only for powers of 2, below which the numbers are closer. */
    if (length < precision) CHECK((bits & 0xfffffffffffffu) == 0);
}

static void check_printed(double value, const char *text)
{
    CHECK(strcmp(print_to_text(bits_from_double(value)), text) == 0);
    if (strcmp(print_to_text(bits_from_double(value)), text) != 0) printf("%s, not %s\n", print_to_text(bits_from_double(value)), text);
}

static void notation(void)
{
    check_printed(0.0, "0");
    check_printed(-0.0, "-0.0");
    check_printed(1.0, "1");
    check_printed(2.0, "2");
    check_printed(-23.5, "-23.5");
    check_printed(-100.0, "-100");
    check_printed(0.1, "0.1");
    check_printed(0.100000001490116119384765625, "0.10000000149011612"); /* (double)0.1f, which FLT_EVAL_METHOD 1 would change */
    check_printed(0.012, "0.012");
    check_printed(0.00001, "0.00001");
    check_printed(0.000012345678901234567, "0.000012345678901234568");
    check_printed(0.000001, "1e-6");
    check_printed(1.5e-7, "1.5e-7");
    check_printed(1e15, "1000000000000000");
    check_printed(1234567890123456.7, "1234567890123456.8");
    check_printed(9999999999999998.0, "9999999999999998");
    check_printed(1e16, "10000000000000000");
    check_printed(-9223372036854775808.0, "-9223372036854775808");
    check_printed(-9223372036854777856.0, "-9.223372036854778e+18");
    check_printed(18446744073709549568.0, "18446744073709549568");
    check_printed(1e21, "1e+21");
    check_printed(1e22, "1e+22");
    check_printed(1e23, "1e+23");
    check_printed(9007199254740992.0, "9007199254740992");
    check_printed(18446744073709551616.0, "1.8446744073709552e+19");
    check_printed(-1.7976931348623157e308, "-1.7976931348623157e+308");
    check_printed(2.2250738585072014e-308, "2.2250738585072014e-308");
    check_printed(5e-324, "5e-324");
    check_printed(-2.2250738585072011e-308, "-2.225073858507201e-308");
    check_printed(9.5367431640625e-7, "9.5367431640625e-7");
}

static void shortest(void)
{
    for (int exponent = 0; exponent < 0x7ff; exponent++) {
        uint64_t bits = (uint64_t)(unsigned)exponent << 52;
        check_shortest(bits);
        check_shortest(bits + 1);
        if (bits) check_shortest(bits - 1);
    }
    for (int i = 0; i < 52; i++) check_shortest((uint64_t)1 << i);
    for (int i = 0; i < count; i++) {
        uint64_t bits = random64();
        if (i % 4 == 1) bits &= 0x800fffffffffffffu;
        if (i % 4 == 2) bits = bits_from_double((double)(random64() % 10000000) / (i % 8 == 2 ? 100 : 1000));
        if (i % 4 == 3) bits = bits_from_double((double)(random64() >> (i / 4 & 63)));
        if ((bits & DN__INFINITY) != DN__INFINITY) check_shortest(bits);
    }
}

/* A binary32 is printed as the shortest text that reads back as it, also if it is first read as a binary64. */
static void check_shortest_float(uint32_t bits)
{
    char text[DN__NUMBER_TEXT + 1], best[32], digits[32], best_digits[32];
    float value, back;
    memcpy(&value, &bits, sizeof value);
    uint8_t length = dn__print_float(bits, text);
    text[length] = 0;
    back = strtof(text, NULL);
    bool same = memcmp(&back, &value, sizeof value) == 0;
    back = (float)strtod(text, NULL);
    same = same && memcmp(&back, &value, sizeof value) == 0 && length <= DN__NUMBER_TEXT;
    CHECK(same);
    if (!same) printf("%08lx prints %s\n", (unsigned long)bits, text);
    if (!strpbrk(text, ".e")) {
        snprintf(best, sizeof best, "%.0f", (double)value);
        CHECK(strcmp(text, best) == 0); /* an integer, printed in full */
        return;
    }
    int precision = 0;
    do snprintf(best, sizeof best, "%.*e", precision++, (double)value);
    while (strtof(best, NULL) != value);
    int significant = copy_digits(text, digits);
    CHECK(significant <= precision);
    if (significant == precision) CHECK(copy_digits(best, best_digits) == significant && strcmp(best_digits, digits) == 0);
    if (significant < precision) CHECK((bits & 0x7fffff) == 0);
}

static void floats(void)
{
    for (uint32_t exponent = 0; exponent < 0xff; exponent++) {
        check_shortest_float(exponent << 23);
        check_shortest_float((exponent << 23) + 1);
        check_shortest_float(exponent << 23 | 0x7fffff);
        check_shortest_float(0x80000000 | exponent << 23);
    }
    for (uint32_t hundredths = 0; hundredths < 20000; hundredths += 7) {
        float value = (float)hundredths / 100;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        check_shortest_float(bits);
    }
    for (int i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)random64();
        if (i % 4 == 0) bits &= 0x807fffff;
        if ((bits & 0x7f800000) != 0x7f800000) check_shortest_float(bits);
    }
    if (step) /* every step-th binary32 */
        for (uint64_t bits = 0; bits < 0x7f800000; bits += step) check_shortest_float((uint32_t)bits);
}

static void integers(void)
{
    char text[DN__NUMBER_TEXT + 1], expected[32];
    for (int i = 0; i < 1000; i++) {
        uint64_t value = i < 4 ? (uint64_t)0 - (uint64_t)i : random64() >> (i % 64);
        text[dn__print_integer(value, false, text)] = 0;
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        CHECK(strcmp(text, expected) == 0);
        text[dn__print_integer(value, true, text)] = 0;
        snprintf(expected, sizeof expected, "-%llu", (unsigned long long)value);
        CHECK(strcmp(text, expected) == 0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) count = atoi(argv[1]);
    if (argc > 2) step = (uint32_t)atol(argv[2]);
    TEST(known_texts);
    TEST(exactness);
    TEST(around_halfway);
    TEST(random_texts);
    TEST(notation);
    TEST(shortest);
    TEST(floats);
    TEST(integers);
    return test_end("json_decimal");
}
