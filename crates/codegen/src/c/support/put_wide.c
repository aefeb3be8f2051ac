/* The same beyond 32 bits. */
static void put_wide(writer *w, uint64_t value, uint64_t max, NAME_field field)
{
    uint32_t high = upper(value), low = (uint32_t)value;
    if (high > upper(max) || (high == upper(max) && low > (uint32_t)max)) {
        refuse(w, PREFIX_RANGE, field);
        return;
    }
    put_index(w, high, upper(max), field);
    put_index(w, low, upper(max) ? UINT32_MAX : (uint32_t)max, field);
}

