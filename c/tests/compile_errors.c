/* Tables and calls that must not compile, even with all warnings off. ERROR_CASE selects one by its number; 0 selects none. */
#include <dn_bind.h>

typedef struct {
    uint32_t present;
    int32_t x;
} small;

typedef struct {
    uint32_t present;
    float x; /* same size as `small`, different type */
} alike;

typedef struct {
    uint32_t present;
    char text[200];
} big;

typedef struct {
    uint32_t present;
    float f;
    uint16_t u16;
    char chars[4];
    uint16_t count16;
    uint8_t count8;
    uint8_t array[3];
    bool flag;
    char *text_elsewhere;
    uint8_t *array_elsewhere;
    small inner;
    small inners[2];
    small *inners_elsewhere;
} members;

DN_TABLE_DECLARE(small_table, small);
DN_TABLE_SHARED(small_table, small, present, DN_FIELD(x, "x", i32));
DN_TABLE(big_table, big, present, DN_FIELD(text, "text", chars));
DN_TABLE(alike_table, alike, present, DN_FIELD(x, "x", float));

#if ERROR_CASE == 8 /* present bits of the wrong size */
#define PRESENT u16
#elif ERROR_CASE == 17 /* present bits of the wrong type */
#define PRESENT f
#else
#define PRESENT present
#endif

#if ERROR_CASE == 1 /* a key longer than DN_KEY_SIZE allows */
#define WRONG DN_FIELD(u16, "a key of 16 byte", u16),
#elif ERROR_CASE == 2 /* a member of the wrong size */
#define WRONG DN_FIELD(u16, "u16", u32),
#elif ERROR_CASE == 3 /* a member of the right size and the wrong type */
#define WRONG DN_FIELD(f, "f", u32),
#elif ERROR_CASE == 4 /* a member of the wrong sign */
#define WRONG DN_FIELD(u16, "u16", i16),
#elif ERROR_CASE == 5 /* chars for a member that is not char[] */
#define WRONG DN_FIELD(array, "array", chars),
#elif ERROR_CASE == 6 /* a count of the wrong size */
#define WRONG DN_FIELD_ARRAY(array, count8, "array", u8),
#elif ERROR_CASE == 7 /* elements of the wrong size */
#define WRONG DN_FIELD_ARRAY(array, count16, "array", u16),
#elif ERROR_CASE == 11 /* the wrong type of one byte */
#define WRONG DN_FIELD(flag, "flag", u8),
#elif ERROR_CASE == 12 /* the table of a larger struct */
#define WRONG DN_FIELD_STRUCT(inner, "inner", big_table),
#elif ERROR_CASE == 13 /* the table of another struct of the same size */
#define WRONG DN_FIELD_STRUCT(inner, "inner", alike_table),
#elif ERROR_CASE == 14 /* elements with the table of a larger struct */
#define WRONG DN_FIELD_STRUCTS(inners, count16, "inners", big_table),
#elif ERROR_CASE == 15 /* a pointer to characters */
#define WRONG DN_FIELD(text_elsewhere, "text", chars),
#elif ERROR_CASE == 16 /* a pointer to elements */
#define WRONG DN_FIELD_ARRAY(array_elsewhere, count16, "array", u8),
#elif ERROR_CASE == 18 /* a pointer to structs */
#define WRONG DN_FIELD_STRUCTS(inners_elsewhere, count16, "inners", small_table),
#elif ERROR_CASE == 19 /* a member of another struct */
#define WRONG DN_FIELD(text, "text", chars),
#elif ERROR_CASE == 20 /* not a table */
#define WRONG DN_FIELD_STRUCT(inner, "inner", table_elsewhere),
#else
#define WRONG
#endif

DN_TABLE(table, members, PRESENT, WRONG
    DN_FIELD(u16, "a key of 15 byt", u16),
    DN_FIELD(chars, "", chars),
    DN_FIELD(flag, "flag", bool),
    DN_FIELD_STRUCT(inner, "inner", small_table),
    DN_FIELD_STRUCTS(inners, count16, "inners", small_table),
    DN_FIELD_ARRAY(array, count16, "array", u8));

#define ROW DN_FIELD(u16, "u16", u16)
#define ROWS_8 ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW
#if ERROR_CASE == 9 /* more rows than present bits */
DN_TABLE(many_table, members, present, ROWS_8, ROWS_8, ROWS_8, ROWS_8, ROW);
#else
DN_TABLE(many_table, members, present, ROWS_8, ROWS_8, ROWS_8, ROWS_8);
#endif

typedef struct {
#if ERROR_CASE == 10 /* offsets of more than 16 bits */
    char chars[70000];
#else
    char chars[7000];
#endif
    uint32_t present;
} large;
DN_TABLE(large_table, large, present, DN_FIELD_BY(present, "", dn_store_u32));

bool use(dn_reader *r, const uint8_t *message, size_t size, members *m, small *s, large *l);
bool use(dn_reader *r, const uint8_t *message, size_t size, members *m, small *s, large *l)
{
    if (dn_bind(r, message, size, &many_table, m) || dn_bind(r, message, size, &large_table, l)) return true;
#if ERROR_CASE == 21 /* the table of another struct */
    if (dn_bind(r, message, size, &big_table, s)) return true;
#elif ERROR_CASE == 22 /* the same for an item */
    if (dn_read_struct(r, &big_table, s)) return true;
#elif ERROR_CASE == 23 /* any memory */
    uint8_t room[4];
    if (dn_bind(r, message, size, &small_table, room)) return true;
#endif
    return dn_read_struct(r, &table, m) || dn_read_struct(r, &small_table, s);
}
