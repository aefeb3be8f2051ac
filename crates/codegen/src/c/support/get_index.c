/* An index out of max + 1. 0 after an error. */
static uint32_t get_index(reader *r, uint32_t max, NAME_field field)
{
    uint32_t value = 0, rest = max;
    uint16_t drop = 256;
    uint8_t bytes = 4, top;
    if (!max) return 0;
    while (!(top = (uint8_t)(rest >> 24))) {
        rest <<= 8;
        bytes--;
    }
    /* `drop` is 1 << the number of bits of the next part, which is 8 for all but the first. */
    for (; !(top & 0x80); top = (uint8_t)(top << 1)) drop >>= 1;
    do {
        uint16_t split = (uint16_t)(r->byte * drop);
        uint16_t moved = (uint16_t)(r->unit * drop);
        uint8_t part = (uint8_t)(split >> 8);
        r->unit = (uint8_t)moved;
        if (moved > 255) {
            r->unit = (uint8_t)(moved >> 8);
            split = (uint16_t)((uint16_t)next(r) * r->unit);
            part = (uint8_t)(part | split >> 8);
        }
        r->byte = (uint8_t)split;
        value = value << 8 | part;
        drop = 256;
    } while (--bytes);
    if (value <= max) return value;
    reject(r, PREFIX_RANGE, field);
    return 0;
}

