/* ---- Floats, by their bits --------------------------------------------------------------------------------------------------- */

/* Whether binary32 holds the finite binary64 with these upper and lower bits. */
static bool is_single(uint32_t high, uint32_t low)
{
    uint16_t exponent = (uint16_t)(high >> 20 & 0x7ff);
    if (!(exponent | (high & 0xfffff) | low)) return true;
    if (exponent > 1023 + 127 || exponent < 1023 - 149) return false;
    if (exponent >= 1023 - 126) return !(low & 0x1fffffff);
    /* Binary32 has it as a subnormal: with one digit less for each power of two below 2^-126. */
    exponent = (uint16_t)(1023 - 126 + 29 - exponent);
    if (exponent < 32) return !(low & (((uint32_t)1 << exponent) - 1));
    return !low && !(high & (((uint32_t)1 << (exponent - 32)) - 1));
}

