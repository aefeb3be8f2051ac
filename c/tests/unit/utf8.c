/* Compares dn_is_utf8, and the check in dn_next, with a direct implementation of RFC 3629. */
#include "dn_pson.h"

#include "test.h"

/* Decodes each character, and checks its code point and that the encoding is the shortest one. */
static bool is_utf8_reference(const uint8_t *at, size_t size)
{
    while (size) {
        uint32_t character = *at;
        size_t length = 1;
        uint32_t least = 0;
        if (character >= 0x80) {
            if ((character & 0xe0) == 0xc0) {
                length = 2;
                least = 0x80;
                character &= 0x1f;
            } else if ((character & 0xf0) == 0xe0) {
                length = 3;
                least = 0x800;
                character &= 0x0f;
            } else if ((character & 0xf8) == 0xf0) {
                length = 4;
                least = 0x10000;
                character &= 0x07;
            } else return false;
        }
        if (size < length) return false;
        for (size_t i = 1; i < length; i++) {
            if ((at[i] & 0xc0) != 0x80) return false;
            character = character << 6 | (at[i] & 0x3f);
        }
        if (character < least || character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff)) return false;
        at += length;
        size -= length;
    }
    return true;
}

static uint32_t sequences, disagreements;

static void check_text(const uint8_t *text, size_t size)
{
    sequences++;
    if (dn_is_utf8(text, size) != is_utf8_reference(text, size)) disagreements++;
}

static void agrees_on_all_short_sequences(void)
{
    uint8_t text[3];
    sequences = disagreements = 0;
    for (unsigned a = 0; a < 256; a++) {
        text[0] = (uint8_t)a;
        check_text(text, 1);
        for (unsigned b = 0; b < 256; b++) {
            text[1] = (uint8_t)b;
            check_text(text, 2);
#if !defined(__AVR__)
            for (unsigned c = 0; c < 256; c++) {
                text[2] = (uint8_t)c;
                check_text(text, 3);
            }
#endif
        }
    }
#if defined(__AVR__)
    CHECK_EQ(sequences, 256 + 65536);
#else
    CHECK_EQ(sequences, 256 + 65536 + 16777216);
#endif
    CHECK_EQ(disagreements, 0);
}

/* All lead bytes from 0xe0 on with all second bytes; the other bytes at the limits of their ranges. */
static void agrees_at_the_bounds_of_long_sequences(void)
{
    static const uint8_t bounds[] = {0x00, 0x7f, 0x80, 0x81, 0xbe, 0xbf, 0xc0, 0xff};
    uint8_t text[6];
    sequences = disagreements = 0;
    for (unsigned a = 0xe0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            for (size_t c = 0; c < sizeof bounds; c++)
                for (size_t d = 0; d < sizeof bounds; d++) {
                    text[0] = 'x';
                    text[1] = (uint8_t)a;
                    text[2] = (uint8_t)b;
                    text[3] = bounds[c];
                    text[4] = bounds[d];
                    text[5] = 'x';
                    check_text(text + 1, 3); /* truncated */
                    check_text(text + 1, 4);
                    check_text(text, 6); /* between other characters */
                }
    CHECK_EQ(sequences, (uint32_t)3 * 32 * 256 * 64);
    CHECK_EQ(disagreements, 0);
}

static void short_texts(void)
{
    CHECK(dn_is_utf8(NULL, 0));
    CHECK(dn_is_utf8("", 0));
    CHECK(dn_is_utf8("\0", 1));
    CHECK(dn_is_utf8("\xf4\x8f\xbf\xbf", 4));
    CHECK(!dn_is_utf8("\xf4\x90\x80\x80", 4));
    CHECK(!dn_is_utf8("\xed\xa0\x80", 3));
}

/* A reader rejects the same texts and keys, with N in the header or in a varint, and accepts any bytes. */
static void agrees_with_the_reader(void)
{
    uint32_t wrong = 0;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b += a < 0x80 ? 51 : 1) {
            uint8_t chars[2] = {(uint8_t)a, (uint8_t)b};
            bool good = is_utf8_reference(chars, 2);
            uint8_t text[] = {0x82, chars[0], chars[1]};
            uint8_t key[] = {0xc1, 0x82, chars[0], chars[1], 0x00};
            uint8_t bytes[] = {0xa2, chars[0], chars[1]};
            uint8_t varint[] = {0x9f, 0x02, chars[0], chars[1]};
            dn_reader r;
            dn_reader_init(&r, text, sizeof text);
            dn_next(&r);
            wrong += good ? r.type != DN_TEXT || r.n != 2 : r.error != DN_MALFORMED || dn_error_offset(&r) != 0;
            dn_reader_init(&r, key, sizeof key);
            dn_next(&r);
            dn_next(&r);
            wrong += good ? r.type != DN_KEY || r.n != 2 : r.error != DN_MALFORMED || dn_error_offset(&r) != 1;
            dn_reader_init(&r, bytes, sizeof bytes);
            wrong += dn_next(&r) != DN_BYTES;
            dn_reader_init(&r, varint, sizeof varint);
            dn_next(&r);
            wrong += good ? r.type != DN_TEXT || r.n != 2 : r.error != DN_MALFORMED || dn_error_offset(&r) != 0;
        }
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    TEST(agrees_on_all_short_sequences);
    TEST(agrees_at_the_bounds_of_long_sequences);
    TEST(short_texts);
    TEST(agrees_with_the_reader);
    return test_end("utf8");
}
