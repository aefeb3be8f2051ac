/* The same beyond 32 bits. */
static void put_wide(writer *w, uint64_t value, uint64_t max, NAME_field field)
{
    if (value > max) {
        refuse(w, PREFIX_RANGE, field);
        return;
    }
    put_index(w, (uint32_t)(value >> 32), (uint32_t)(max >> 32), field);
    put_index(w, (uint32_t)value, UINT32_MAX, field);
}

