static void put_check(writer *w, const uint8_t *message)
{
    uint16_t sum = check_of(message, w->at);
    uint8_t i;
    for (i = 0; i < PREFIX_CHECK_SIZE; i++) {
        if (w->at == w->end) {
            refuse(w, PREFIX_TRUNCATED, PREFIX_FIELD_MESSAGE);
            return;
        }
        *w->at++ = (uint8_t)(sum >> 8);
        sum = (uint16_t)(sum << 8);
    }
}

