/* The same beyond 32 bits: the largest value is given in two halves. */
static void put_wide(NAME_field field, uint64_t value, uint32_t high_max, uint32_t low_max, writer *w)
{
    uint32_t high = upper(value), low = (uint32_t)value;
    if (high == high_max && low > low_max) refuse(w, PREFIX_RANGE, field);
    put_index(field, high, high_max, w);
    put_index(field, low, high_max ? UINT32_MAX : low_max, w);
}

