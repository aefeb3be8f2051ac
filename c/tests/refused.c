/* Tables that must not compile; REFUSED is the number of one, and 0 is none. */
#include <dn_bind.h>

typedef struct {
    uint32_t present;
    float f;
    uint16_t u16;
    char chars[4];
    uint16_t count16;
    uint8_t count8;
    uint8_t array[3];
} members;

static const dn_field fields[] DN_FLASH = {
    DN_FIELD(members, u16, "a key of 15 byt", u16),
    DN_FIELD(members, chars, "", chars),
    DN_FIELD_ARRAY(members, array, count16, "array", u8),
#if REFUSED == 1 /* a key longer than its room */
    DN_FIELD(members, u16, "a key of 16 byte", u16),
#elif REFUSED == 2 /* another size */
    DN_FIELD(members, u16, "u16", u32),
#elif REFUSED == 3 /* another type of that size */
    DN_FIELD(members, f, "f", u32),
#elif REFUSED == 4 /* another sign */
    DN_FIELD(members, u16, "u16", i16),
#elif REFUSED == 5 /* chars that are none */
    DN_FIELD(members, array, "array", chars),
#elif REFUSED == 6 /* a count of another size */
    DN_FIELD_ARRAY(members, array, count8, "array", u8),
#elif REFUSED == 7 /* elements of another size */
    DN_FIELD_ARRAY(members, array, count16, "array", u16),
#endif
};

#if REFUSED == 8 /* present bits of another size */
static const dn_struct table DN_FLASH = DN_STRUCT(members, u16, fields);
#else
static const dn_struct table DN_FLASH = DN_STRUCT(members, present, fields);
#endif

#if REFUSED == 9 /* more rows than bits */
static const dn_field many[33] DN_FLASH = {DN_FIELD(members, u16, "u16", u16)};
static const dn_struct more DN_FLASH = DN_STRUCT(members, present, many);
#endif

#if REFUSED == 10 /* offsets of more than 16 bits */
typedef struct {
    char chars[70000];
    uint32_t present;
} large;
static const dn_field large_fields[] DN_FLASH = {DN_FIELD_BY(large, present, "", dn_store_u32)};
static const dn_struct large_table DN_FLASH = DN_STRUCT(large, present, large_fields);
#endif

bool use(dn_reader *r, members *m);
bool use(dn_reader *r, members *m)
{
#if REFUSED == 9
    return dn_read_struct(r, &more, m);
#elif REFUSED == 10
    return dn_read_struct(r, &large_table, m);
#else
    return dn_read_struct(r, &table, m);
#endif
}
