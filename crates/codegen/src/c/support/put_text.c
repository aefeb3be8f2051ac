/* Text of `min` to `max` characters. */
static void put_text(NAME_field field, const char *text, uint16_t min, uint16_t max, writer *w)
{
    const char *at = text;
    uint16_t count = 0;
    uint32_t widest = 127;
    for (; *at; count++) {
        uint8_t size = utf8_size(at);
        if (!size || count == max) {
            refuse(w, size ? PREFIX_RANGE : PREFIX_MALFORMED, field);
            return;
        }
        if (size > 1) widest = 255;
        at += size;
    }
    if (count < min) {
        refuse(w, PREFIX_RANGE, field);
        return;
    }
    put_index(field, (uint32_t)(count - min), (uint32_t)(max - min), w);
    if (count) put_index(field, widest > 127, 1, w);
    for (at = text; *at; at++) put_index(field, (uint8_t)*at, widest, w);
}

