static void put_float(NAME_field field, double value, writer *w)
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
        put_index(field, 1, 1, w);
        put_index(field, (uint32_t)(bits >> 32), UINT32_MAX, w);
        put_index(field, (uint32_t)bits, UINT32_MAX, w);
        return;
    }
#endif
    narrow = (float)value;
    memcpy(&single, &narrow, sizeof single);
    if ((single >> 23 & 0xff) == 0xff) refuse(w, PREFIX_RANGE, field);
    put_index(field, 0, 1, w);
    put_index(field, single, UINT32_MAX, w);
}

