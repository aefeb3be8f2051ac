/* `bits` bits, at most 64. */
static uint64_t get_bits(reader *r, uint8_t bits, NAME_field field)
{
    uint64_t value = 0;
    if (bits > 32) {
        value = (uint64_t)get_index(r, UINT32_MAX >> (64 - bits), field) << 32;
        bits = 32;
    }
    return value | get_index(r, bits ? UINT32_MAX >> (32 - bits) : 0, field);
}

/* 6 bits for the size, then the rest. */
static uint64_t get_sized(reader *r, NAME_field field)
{
    uint8_t size = (uint8_t)get_index(r, 63, field);
    uint64_t value;
    if (!size) return 0;
    if (size < 63) return (uint64_t)1 << (size - 1) | get_bits(r, (uint8_t)(size - 1), field);
    value = get_bits(r, 64, field);
    if (!(value >> 62)) reject(r, PREFIX_MALFORMED, field);
    return value;
}

