/* The same beyond 32 bits. */
static uint64_t get_wide(reader *r, uint64_t max, NAME_field field)
{
    uint64_t value = (uint64_t)get_index(r, upper(max), field) << 32;
    value |= get_index(r, UINT32_MAX, field);
    if (value <= max) return value;
    reject(r, PREFIX_RANGE, field);
    return 0;
}

