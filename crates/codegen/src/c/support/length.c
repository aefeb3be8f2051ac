/* Whether text that a NUL ends has `min` to `max` characters, all ASCII. */
static bool has_length(const char *text, uint16_t min, uint16_t max)
{
    uint16_t size = 0;
    while (text[size] && size <= max) size++;
    return size >= min && size <= max;
}

