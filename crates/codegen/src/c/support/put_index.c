/* `value` as an index out of max + 1. In this order of arguments an 8-bit machine keeps the writer in registers from call to call. */
static void put_index(NAME_field field, uint32_t value, uint32_t max, writer *w)
{
    uint8_t *at = w->at;
    uint8_t byte = w->byte, unit = w->unit, bytes = 4, top, lift = 1;
    if (value > max) {
        refuse(w, PREFIX_RANGE, field);
        return;
    }
    if (!max) return;
    /* Brings the highest bit of the index up to that of the 32 bits, but for `lift`. */
    while (!(top = (uint8_t)(max >> 24))) {
        max <<= 8;
        value <<= 8;
        bytes--;
    }
    for (; !(top & 0x80); top = (uint8_t)(top << 1)) lift = (uint8_t)(lift << 1);
    do {
        uint8_t part = (uint8_t)((uint8_t)(value >> 24) * lift);
        uint16_t split = (uint16_t)((uint16_t)part * unit);
        uint16_t moved = (uint16_t)((uint16_t)lift * unit);
        byte = (uint8_t)(byte | split >> 8);
        unit = (uint8_t)(moved >> 8);
        if (!unit) {
            if (at == w->end) {
                refuse(w, PREFIX_TRUNCATED, field);
                return;
            }
            *at++ = byte;
            byte = (uint8_t)split;
            unit = (uint8_t)moved;
        }
        lift = 1;
        value <<= 8;
    } while (--bytes);
    w->at = at;
    w->byte = byte;
    w->unit = unit;
}

