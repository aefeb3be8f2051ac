/* The same in 8 bits. */
static void put_small(writer *w, uint8_t value, uint8_t max, NAME_field field) { put_index(w, value, max, field); }

