/* The upper half of `value`. */
static inline uint32_t upper(uint64_t value)
{
#if defined(__AVR__)
    uint32_t half; /* little-endian; a shift would take a loop */
    memcpy(&half, (const uint8_t *)&value + 4, sizeof half);
    return half;
#else
    return (uint32_t)(value >> 32);
#endif
}

