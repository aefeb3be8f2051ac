/* Keys of up to 30 bytes, with a library that was compiled for shorter ones. */
#define DN_KEY_SIZE 31
#include "dn_bind.h"

#include "message.h"

typedef struct {
    uint8_t first, second, third;
    uint32_t present;
} keys;

#define KEY_30 "thirty bytes long, the longest"
#define KEY_29 "thirty bytes long, the longes"

DN_TABLE(keys_table, keys, present,
    DN_FIELD(first, KEY_30, u8),
    DN_FIELD(second, KEY_29, u8),
    DN_FIELD(third, "x", u8));

static keys k;

static bool bind(void)
{
    dn_reader r;
    return dn_bind(&r, message, message_size, &keys_table, &k);
}

static void keys_of_30_bytes(void)
{
    MESSAGE("\xc3\x9e" KEY_30 "\x01\x9d" KEY_29 "\x02\x81" "x\x03");
    CHECK(bind());
    CHECK_EQ(k.present, 7);
    CHECK_EQ(k.first, 1);
    CHECK_EQ(k.second, 2);
    CHECK_EQ(k.third, 3);
    MESSAGE("\xc2\x9f\x1d" KEY_29 "\x04\x9f\x9e\x00" KEY_30 "\x05"); /* lengths in varints */
    CHECK(bind());
    CHECK_EQ(k.present, 3);
    CHECK_EQ(k.first, 5);
    CHECK_EQ(k.second, 4);
}

static void longer_keys(void)
{
    MESSAGE("\xc2\x9f\x1f" KEY_30 "?\x06\x81" "x\x07"); /* a key of 31 bytes is in no row */
    CHECK(bind());
    CHECK_EQ(k.present, DN_BIT(2));
    CHECK_EQ(k.third, 7);
    MESSAGE("\xc1\x9e" "thirty bytes long, the longesT\x08");
    CHECK(bind());
    CHECK_EQ(k.present, 0);
}

int main(void)
{
    TEST(keys_of_30_bytes);
    TEST(longer_keys);
    free(message);
    return test_end("bind_keys");
}
