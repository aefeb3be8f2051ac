#include "dn_pson.h"

/* Implements Table 3-7 of the Unicode standard: the lead byte determines how many bytes follow, and the range of the first of
 * them. This excludes overlong forms, surrogates and code points above U+10FFFF. */
bool dn_is_utf8(const void *text, size_t size)
{
    const uint8_t *at = (const uint8_t *)text;
    while (size) {
        uint8_t lead = *at++;
        size--;
        if (lead < 0x80) continue;
        if (lead < 0xc2 || lead > 0xf4) return false;
        uint8_t follow = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        uint8_t low = 0x80, high = 0xbf;
        if (lead == 0xe0) low = 0xa0; /* overlong */
        if (lead == 0xed) high = 0x9f; /* surrogates */
        if (lead == 0xf0) low = 0x90; /* overlong */
        if (lead == 0xf4) high = 0x8f; /* above U+10FFFF */
        if (size < follow) return false;
        size -= follow;
        do {
            uint8_t byte = *at++;
            if (byte < low || byte > high) return false;
            low = 0x80;
            high = 0xbf;
        } while (--follow);
    }
    return true;
}
