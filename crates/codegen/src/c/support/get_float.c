/* Where double has no more than 32 bits, a binary64 that does not fit is out of range. */
static double get_float(reader *r, NAME_field field)
{
    float narrow;
    uint32_t high = 0, low;
    if (!get_index(r, 1, field)) {
        low = get_index(r, UINT32_MAX, field);
        if ((low >> 23 & 0xff) == 0xff) {
            reject(r, PREFIX_RANGE, field);
            return 0;
        }
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    }
    high = get_index(r, UINT32_MAX, field);
    low = get_index(r, UINT32_MAX, field);
    if ((high >> 20 & 0x7ff) == 0x7ff) {
        reject(r, PREFIX_RANGE, field);
        return 0;
    }
    if (is_single(high, low)) reject(r, PREFIX_MALFORMED, field);
#if DBL_MANT_DIG > FLT_MANT_DIG
    double value;
    uint64_t bits = (uint64_t)high << 32 | low;
    memcpy(&value, &bits, sizeof value);
    return value;
#else
    reject(r, PREFIX_RANGE, field);
    return 0;
#endif
}

