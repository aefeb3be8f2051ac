/* ---- Patterns ---------------------------------------------------------------------------------------------------------------- */

/* Between `min` and `max` characters of a class. */
typedef struct {
    uint32_t most; /* the largest product that does not reach 2^32 when it is multiplied by `radix` */
    uint16_t share; /* 65536 / radix */
    uint16_t radix; /* characters of the class */
    pattern_size min;
    pattern_size max;
    uint8_t ranges; /* pairs in `characters` */
    uint16_t first; /* of these */
} segment;

