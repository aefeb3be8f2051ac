#define NO_INDEX 255

/* The index of a character in the class of a segment; NO_INDEX when it is not in there. */
static uint8_t class_index(const segment *s, char character)
{
    const uint8_t *range = characters + FLASH_16(s->first);
    uint8_t ranges = FLASH_8(s->ranges), index = 0;
    for (; ranges; ranges--, range += 2) {
        uint8_t at = (uint8_t)((uint8_t)character - FLASH_8(range[0])), last = FLASH_8(range[1]);
        if (at <= last) return (uint8_t)(index + at);
        index = (uint8_t)(index + last + 1);
    }
    return NO_INDEX;
}

/* Text of a pattern: the counts of its segments, then the characters in groups below 2^32. */
static void put_pattern(NAME_field field, const char *text, const segment *s, uint8_t segments, writer *w)
{
    pattern_size counts[MOST_SEGMENTS];
    const char *at = text;
    uint32_t value = 0, product = 1;
    uint8_t i;
    for (i = 0; i < segments; i++) {
        pattern_size min = FLASH_SIZE(s[i].min), max = FLASH_SIZE(s[i].max), count = 0;
        for (; count < max && class_index(&s[i], *at) != NO_INDEX; at++) count++;
        put_index(field, (uint32_t)count - min, (uint32_t)(max - min), w);
        counts[i] = count;
    }
    if (*at) refuse(w, PREFIX_RANGE, field);
    for (i = 0; i < segments && !w->error; i++, s++) {
        uint8_t radix = FLASH_8(s->radix);
        for (; counts[i]; counts[i]--) {
            if (product > FLASH_32(s->most)) {
                put_index(field, value, product - 1, w);
                value = 0;
                product = 1;
            }
            value = value * radix + class_index(s, *text++);
            product *= radix;
        }
    }
    put_index(field, value, product - 1, w);
}

