/* Text of `min` to `max` characters; U+0000, which C text cannot hold, is out of range. */
static void get_text(reader *r, char *text, uint16_t min, uint16_t max, NAME_field field)
{
    uint16_t count = (uint16_t)(min + get_index(r, (uint32_t)(max - min), field));
    bool ascii = !count || !get_index(r, 1, field), plain = !ascii;
    for (; count; count--) {
        uint8_t lead = (uint8_t)get_index(r, ascii ? 127 : 255, field), size = 1;
        text[0] = (char)lead;
        if (lead >= 0x80) {
            plain = false;
            size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            for (uint8_t i = 1; i < size && lead >= 0xc2 && lead <= 0xf4; i++) text[i] = (char)get_index(r, 255, field);
        }
        text[size] = 0;
        if (utf8_size(text) != size || !lead) {
            reject(r, lead ? PREFIX_MALFORMED : PREFIX_RANGE, field);
            break;
        }
        text += size;
    }
    if (plain) reject(r, PREFIX_MALFORMED, field);
    *text = 0;
}

