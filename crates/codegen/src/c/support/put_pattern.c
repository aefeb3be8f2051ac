/* The index of a character in its class; at least `radix` when it is not in there. */
static uint16_t class_index(const segment *s, char character)
{
    const uint8_t *range = characters + FLASH_16(s->first);
    uint8_t ranges = FLASH_8(s->ranges);
    uint16_t index = 0;
    for (; ranges; ranges--, range += 2) {
        uint8_t at = (uint8_t)((uint8_t)character - FLASH_8(range[0])), last = FLASH_8(range[1]);
        if (at <= last) return (uint16_t)(index + at);
        index = (uint16_t)(index + last + 1);
    }
    return UINT16_MAX;
}

/* Writes how many characters the segments have, and leaves that in `counts`. False when the text is not of the pattern. */
static bool put_counts(writer *w, const char *text, const segment *s, uint8_t segments, pattern_size *counts, NAME_field field)
{
    for (; segments; segments--, s++) {
        pattern_size min = FLASH_SIZE(s->min), max = FLASH_SIZE(s->max), count = 0;
        bool varies = min != max;
        while (count < max && *text && (!varies || class_index(s, *text) != UINT16_MAX)) {
            text++;
            count++;
        }
        if (count < min) return false;
        if (varies) put_index(w, (uint32_t)(count - min), (uint32_t)(max - min), field);
        *counts++ = count;
    }
    return !*text;
}

/* Text of a pattern: the counts of its segments, then the characters in groups below 2^32. */
static void put_pattern(writer *w, const char *text, const segment *s, uint8_t segments, NAME_field field)
{
    pattern_size counts[MOST_SEGMENTS];
    const pattern_size *count = counts;
    uint32_t value = 0, product = 1;
    bool matches = put_counts(w, text, s, segments, counts, field);
    for (; matches && segments; segments--, s++) {
        uint32_t most = FLASH_32(s->most);
        uint16_t radix = FLASH_16(s->radix);
        for (pattern_size left = *count++; left; left--) {
            uint16_t index = class_index(s, *text++);
            if (index == UINT16_MAX) {
                matches = false;
                break;
            }
            if (product > most) {
                put_index(w, value, product - 1, field);
                value = 0;
                product = 1;
            }
            value = value * radix + index;
            product *= radix;
        }
    }
    if (matches) put_index(w, value, product - 1, field);
    else refuse(w, PREFIX_RANGE, field);
}

