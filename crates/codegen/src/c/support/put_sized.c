/* The lowest `bits` bits of `value`, at most 64. */
static void put_bits(writer *w, uint64_t value, uint8_t bits, NAME_field field)
{
    uint32_t mask;
    if (bits > 32) {
        mask = UINT32_MAX >> (64 - bits);
        put_index(w, (uint32_t)(value >> 32) & mask, mask, field);
        bits = 32;
    }
    mask = bits ? UINT32_MAX >> (32 - bits) : 0;
    put_index(w, (uint32_t)value & mask, mask, field);
}

/* 6 bits for the size, then the rest. */
static void put_sized(writer *w, uint64_t value, NAME_field field)
{
    uint8_t size = 0;
    while (size < 63 && value >> size) size++;
    put_index(w, size, 63, field);
    if (size) put_bits(w, value, (uint8_t)(size == 63 ? 64 : size - 1), field);
}

