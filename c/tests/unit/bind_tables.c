/* dn_bind: tables with the longest keys, the most rows, and store functions of the user. */
#include "dn_bind.h"

#include "message.h"

static dn_reader r;

typedef struct {
    uint8_t first, last;
    uint32_t present;
} pair;

DN_TABLE(pair_table, pair, present,
    DN_FIELD(first, "a key of 15 byt", u8),
    DN_FIELD(last, "a key of 15 bys", u8));

static void keys_of_the_maximum_length(void)
{
    pair p;
    MESSAGE("\xc2\x8f" "a key of 15 byt\x01\x8f" "a key of 15 bys\x02");
    CHECK(dn_bind(&r, message, message_size, &pair_table, &p));
    CHECK_EQ(p.first, 1);
    CHECK_EQ(p.last, 2);
    MESSAGE("\xc2\x90" "a key of 15 byts\x01\x8e" "a key of 15 by\x02");
    CHECK(dn_bind(&r, message, message_size, &pair_table, &p));
    CHECK_EQ(p.present, 0);
}

typedef struct {
    uint32_t present;
    uint8_t member[32];
} wide_struct;

#define WIDE_ROW(i, key) DN_FIELD(member[i], key, u8)
DN_TABLE(wide_table, wide_struct, present,
    WIDE_ROW(0, "A"), WIDE_ROW(1, "B"), WIDE_ROW(2, "C"), WIDE_ROW(3, "D"), WIDE_ROW(4, "E"), WIDE_ROW(5, "F"), WIDE_ROW(6, "G"), WIDE_ROW(7, "H"),
    WIDE_ROW(8, "I"), WIDE_ROW(9, "J"), WIDE_ROW(10, "K"), WIDE_ROW(11, "L"), WIDE_ROW(12, "M"), WIDE_ROW(13, "N"), WIDE_ROW(14, "O"), WIDE_ROW(15, "P"),
    WIDE_ROW(16, "Q"), WIDE_ROW(17, "R"), WIDE_ROW(18, "S"), WIDE_ROW(19, "T"), WIDE_ROW(20, "U"), WIDE_ROW(21, "V"), WIDE_ROW(22, "W"), WIDE_ROW(23, "X"),
    WIDE_ROW(24, "Y"), WIDE_ROW(25, "Z"), WIDE_ROW(26, "["), WIDE_ROW(27, "\\"), WIDE_ROW(28, "]"), WIDE_ROW(29, "^"), WIDE_ROW(30, "_"), WIDE_ROW(31, "`"));

/* The present bit of each of 32 rows. The keys come with strides, so that the search wraps around. */
static void tables_of_32_rows(void)
{
    for (unsigned stride = 1; stride < 32; stride += 2) {
        wide_struct w;
        memset(&w, 0xee, sizeof w);
        uint32_t expected = 0;
        message_allocate(3 + 3 * 32);
        for (unsigned entries = 1; entries <= 32; entries++) {
            uint8_t row = (uint8_t)((entries - 1) * stride % 32);
            expected |= DN_BIT(row);
            message[0] = 0xdf;
            message[1] = (uint8_t)(entries | 0x80);
            message[2] = 0x00;
            uint8_t *entry = message + 3 * entries;
            entry[0] = 0x81;
            entry[1] = (uint8_t)('A' + row);
            entry[2] = (uint8_t)(row % 31);
            CHECK(dn_bind(&r, message, 3 + 3 * entries, &wide_table, &w));
            CHECK_EQ(w.present, expected);
            CHECK_EQ(w.member[row], row % 31);
        }
        CHECK_EQ(expected, 0xffffffff);
        message[0] = 0xc1; /* a row whose bit the previous call set */
        message[1] = 0x81;
        message[2] = 'A';
        message[3] = 0x00;
        CHECK(dn_bind(&r, message, 4, &wide_table, &w));
        CHECK_EQ(w.present, 1);
    }
}

/* A store function of the user: tenths of a degree, from a number or from "off". */
static void store_tenths(dn_reader *reader, void *to, const dn_member *member)
{
    CHECK_EQ(dn_member_size(member), sizeof(int16_t));
    int16_t *tenths = (int16_t *)to;
    if (dn_next(reader) == DN_TEXT && DN_KEY_IS(reader, "off")) *tenths = INT16_MIN;
    else *tenths = (int16_t)(dn_get_float(reader) * 10);
}

typedef struct {
    uint32_t present;
    int16_t heat;
} heater;

DN_TABLE(heater_table, heater, present,
    DN_FIELD_BY(heat, "heat", store_tenths));

static void custom_store_functions(void)
{
    heater h;
    MESSAGE("\xc1\x84" "heat\x40\x00\x00\xbc\x41");
    CHECK(dn_bind(&r, message, message_size, &heater_table, &h));
    CHECK_EQ(h.heat, 235);
    MESSAGE("\xc1\x84" "heat\x83" "off");
    CHECK(dn_bind(&r, message, message_size, &heater_table, &h));
    CHECK_EQ(h.heat, INT16_MIN);
    MESSAGE("\xc1\x84" "heat\x82" "of");
    CHECK(!dn_bind(&r, message, message_size, &heater_table, &h));
    CHECK_EQ(r.error, DN_WRONG_TYPE);
}

/* A store function that reads nothing. */
static void store_nothing(dn_reader *reader, void *to, const dn_member *member)
{
    (void)reader;
    (void)to;
    (void)member;
}

typedef struct {
    uint32_t present;
    uint8_t ignored;
    uint8_t read;
} lazy;

DN_TABLE(lazy_table, lazy, present,
    DN_FIELD_BY(ignored, "i", store_nothing), DN_FIELD(read, "r", u8));

static void values_left_unread(void)
{
    lazy l;
    MESSAGE("\xc2\x81" "i\x81" "r\x81" "r\x05"); /* a value that looks like a key */
    CHECK(dn_bind(&r, message, message_size, &lazy_table, &l));
    CHECK_EQ(l.present, 3);
    CHECK_EQ(l.read, 5);
    MESSAGE("\xc2\x81" "i\xc1\x81" "r\x07\x81" "r\x05");
    CHECK(dn_bind(&r, message, message_size, &lazy_table, &l));
    CHECK_EQ(l.read, 5);
    MESSAGE("\xc1\x81" "i\x42");
    CHECK(!dn_bind(&r, message, message_size, &lazy_table, &l));
    CHECK_EQ(r.error, DN_MALFORMED);
    CHECK_EQ(dn_error_offset(&r), 3);
    MESSAGE("\xc1\x81" "i");
    CHECK(!dn_bind(&r, message, message_size, &lazy_table, &l));
    CHECK_EQ(r.error, DN_TRUNCATED);
}

int main(void)
{
    TEST(keys_of_the_maximum_length);
    TEST(tables_of_32_rows);
    TEST(custom_store_functions);
    TEST(values_left_unread);
    free(message);
    return test_end("bind_tables");
}
