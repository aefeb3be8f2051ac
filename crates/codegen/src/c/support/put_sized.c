/* The lowest `bits` bits of `value`, at most 64. */
static void put_bits(NAME_field field, uint64_t value, uint8_t bits, writer *w)
{
    uint32_t mask;
    if (bits > 32) {
        mask = UINT32_MAX >> (64 - bits);
        put_index(field, (uint32_t)(value >> 32) & mask, mask, w);
        bits = 32;
    }
    mask = bits ? UINT32_MAX >> (32 - bits) : 0;
    put_index(field, (uint32_t)value & mask, mask, w);
}

/* 6 bits for the size, then the rest. */
static void put_sized(NAME_field field, uint64_t value, writer *w)
{
    uint8_t size = 0;
    while (size < 63 && value >> size) size++;
    put_index(field, size, 63, w);
    if (size) put_bits(field, value, (uint8_t)(size == 63 ? 64 : size - 1), w);
}

