/* Bytes of the character at `at`, which a NUL follows sometime: 1 to 4; 0 when it is not UTF-8 (RFC 3629). */
static uint8_t utf8_size(const char *at)
{
    uint8_t lead = (uint8_t)at[0], second;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    second = (uint8_t)at[1];
    if ((second & 0xc0) != 0x80) return 0;
    if (lead < 0xe0) return 2;
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return 0;
    if (((uint8_t)at[2] & 0xc0) != 0x80) return 0;
    if (lead < 0xf0) return 3;
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return 0;
    return ((uint8_t)at[3] & 0xc0) == 0x80 ? 4 : 0;
}

