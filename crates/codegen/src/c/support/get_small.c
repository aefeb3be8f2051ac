/* The same in 8 bits. */
static uint8_t get_small(reader *r, uint8_t max, NAME_field field) { return (uint8_t)get_index(r, max, field); }

