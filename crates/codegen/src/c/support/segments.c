/* ---- Patterns ---------------------------------------------------------------------------------------------------------------- */

/* Between `min` and `max` characters of a class. */
typedef struct {
    uint32_t most; /* the largest product that does not reach 2^32 when it is multiplied by `radix` */
    uint8_t radix; /* characters of the class */
    uint8_t ranges; /* pairs of `characters` */
    uint16_t first; /* of these */
    pattern_size min;
    pattern_size max;
} segment;

