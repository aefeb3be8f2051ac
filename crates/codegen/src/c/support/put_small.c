/* The same in 8 bits. */
static void put_small(NAME_field field, uint8_t value, uint8_t max, writer *w) { put_index(field, value, max, w); }

