/* Where the machine has 8 bits, a division of 32 bits takes many times as long as one of each byte by multiplications. */
#ifndef BYTEWISE
#define BYTEWISE (UINT_MAX == 0xffff)
#endif
#if BYTEWISE
typedef uint8_t dividend[4]; /* the highest byte first */
#else
typedef uint32_t dividend[1];
#endif

/* Divides by `radix`, of which 65536 has `inverse`, and gives the remainder. */
static uint8_t divide(dividend value, uint8_t radix, uint16_t inverse)
{
#if BYTEWISE
    uint8_t upper = (uint8_t)(inverse >> 8), lower = (uint8_t)inverse, left = 4;
    uint8_t high = 0;
    for (; left > 1 && !*value; left--) value++;
    do {
        uint8_t low = *value, quotient;
        uint16_t sum = (uint16_t)((uint16_t)high * lower), rest;
        sum = (uint16_t)(sum + (uint16_t)low * upper);
        quotient = (uint8_t)(high * upper + (uint8_t)(sum >> 8)); /* at most 2 too small */
        rest = (uint16_t)((uint16_t)(high << 8 | low) - (uint16_t)quotient * radix);
        for (; rest >= radix; rest = (uint16_t)(rest - radix)) quotient++;
        *value++ = quotient;
        high = (uint8_t)rest;
    } while (--left);
    return high;
#else
    uint8_t remainder = (uint8_t)(*value % radix);
    (void)inverse;
    *value /= radix;
    return remainder;
#endif
}

/* Text of a pattern; `inverses` has 65536 / radix for each segment. Each character's place holds the number of its segment, until
 * the character is known. */
static void get_pattern(reader *r, char *text, const segment *segments, const uint16_t *inverses, uint8_t count, NAME_field field)
{
    char *end = text;
    for (uint8_t i = 0; i < count; i++) {
        pattern_size min = FLASH_SIZE(segments[i].min), max = FLASH_SIZE(segments[i].max);
        for (pattern_size left = (pattern_size)(min + get_index(r, (uint32_t)(max - min), field)); left; left--) *end++ = (char)i;
    }
    *end = 0;
    while (text < end) {
        char *next_group = text, *at;
        uint32_t product = 1, index;
        dividend value;
        for (; next_group < end; next_group++) {
            const segment *s = &segments[(uint8_t)*next_group];
            if (product > FLASH_32(s->most)) break;
            product *= FLASH_8(s->radix);
        }
        index = get_index(r, product - 1, field);
#if BYTEWISE
        for (uint8_t i = 4; i; index >>= 8) value[--i] = (uint8_t)index;
#else
        value[0] = index;
#endif
        for (at = next_group; at > text;) {
            uint8_t place = (uint8_t)*--at;
            const segment *s = &segments[place];
            const uint8_t *range = characters + FLASH_16(s->first);
            uint8_t radix = FLASH_8(s->radix), digit = 0, last;
            if (radix > 1) digit = divide(value, radix, FLASH_16(inverses[place]));
            for (; digit > (last = FLASH_8(range[1])); range += 2) digit = (uint8_t)(digit - last - 1);
            *at = (char)(FLASH_8(range[0]) + digit);
        }
        text = next_group;
    }
}

