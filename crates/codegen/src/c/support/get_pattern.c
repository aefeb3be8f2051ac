/* Divides `value` by the radix, in 16 bits at a time, and gives the remainder. */
static uint16_t divide(uint32_t *value, uint16_t radix, uint16_t share)
{
    uint16_t high = (uint16_t)(*value >> 16), low = (uint16_t)*value, quotient, remainder = 0;
    uint32_t upper = 0;
    if (high) {
        quotient = (uint16_t)((uint32_t)high * share >> 16);
        remainder = (uint16_t)(high - quotient * radix);
        if (remainder >= radix) {
            remainder = (uint16_t)(remainder - radix);
            quotient++;
        }
        upper = ((uint32_t)quotient << 16) + (uint32_t)remainder * share;
        /* 65536 = radix * share + the rest, once for each of the remainder. */
        uint16_t rest = (uint16_t)(0u - (uint16_t)(radix * share));
        uint16_t sum = (uint16_t)(low + (uint16_t)(remainder * rest));
        if (sum < low) {
            sum = (uint16_t)(sum + rest);
            upper += share;
        }
        low = sum;
    }
    quotient = (uint16_t)((uint32_t)low * share >> 16);
    remainder = (uint16_t)(low - quotient * radix);
    if (remainder >= radix) {
        remainder = (uint16_t)(remainder - radix);
        quotient++;
    }
    *value = upper + quotient;
    return remainder;
}

/* The character of a class with this index. */
static char class_character(const segment *s, uint16_t index)
{
    const uint8_t *range = characters + FLASH_16(s->first);
    uint8_t last;
    while (index > (last = FLASH_8(range[1]))) {
        index = (uint16_t)(index - last - 1);
        range += 2;
    }
    return (char)(FLASH_8(range[0]) + index);
}

/* Text of a pattern. Each character's place holds the number of its segment, until the character is known. */
static void get_pattern(reader *r, char *text, const segment *segments, uint8_t count, NAME_field field)
{
    pattern_size size = 0, start = 0, end, at;
    for (uint8_t i = 0; i < count; i++) {
        pattern_size min = FLASH_SIZE(segments[i].min), max = FLASH_SIZE(segments[i].max);
        for (pattern_size left = (pattern_size)(min + get_index(r, (uint32_t)(max - min), field)); left; left--) text[size++] = (char)i;
    }
    text[size] = 0;
    for (; start < size; start = end) {
        uint32_t product = 1, value;
        for (end = start; end < size; end++) {
            const segment *s = &segments[(uint8_t)text[end]];
            if (product > FLASH_32(s->most)) break;
            product *= FLASH_16(s->radix);
        }
        value = get_index(r, product - 1, field);
        for (at = end; at-- > start;) {
            const segment *s = &segments[(uint8_t)text[at]];
            uint16_t radix = FLASH_16(s->radix), index = 0;
            if (radix > 1) index = divide(&value, radix, FLASH_16(s->share));
            text[at] = class_character(s, index);
            if (!text[at]) reject(r, PREFIX_RANGE, field);
        }
    }
}

