/* ---- Check -------------------------------------------------------------------------------------------------------------------
 * A CRC that is seeded with the layout's fingerprint: a message of another layout does not pass. */

static uint16_t check_of(const uint8_t *at, const uint8_t *end)
{
    uint16_t sum = SEED;
    while (at != end) {
        uint8_t bit;
        sum = (uint16_t)(sum ^ (uint16_t)((uint16_t)*at++ << 8));
        for (bit = 0; bit < 8; bit++) sum = (uint16_t)((uint16_t)(sum << 1) ^ (sum & 0x8000u ? POLYNOMIAL : 0u));
    }
    return sum;
}

/* Whether the check behind a message, which begins at `end`, is its own. */
static bool is_checked(const uint8_t *bytes, const uint8_t *end)
{
    uint16_t sum = check_of(bytes, end);
    uint8_t i;
    for (i = 0; i < PREFIX_CHECK_SIZE; i++) {
        if (end[i] != (uint8_t)(sum >> 8)) return false;
        sum = (uint16_t)(sum << 8);
    }
    return true;
}

