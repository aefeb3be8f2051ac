static void put_float(writer *w, double value, NAME_field field)
{
    uint32_t single;
    float narrow;
#if DBL_MANT_DIG > FLT_MANT_DIG
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        refuse(w, PREFIX_RANGE, field);
        return;
    }
    if (!is_single((uint32_t)(bits >> 32), (uint32_t)bits)) {
        put_index(w, 1, 1, field);
        put_index(w, (uint32_t)(bits >> 32), UINT32_MAX, field);
        put_index(w, (uint32_t)bits, UINT32_MAX, field);
        return;
    }
#endif
    narrow = (float)value;
    memcpy(&single, &narrow, sizeof single);
    if ((single >> 23 & 0xff) == 0xff) refuse(w, PREFIX_RANGE, field);
    put_index(w, 0, 1, field);
    put_index(w, single, UINT32_MAX, field);
}

