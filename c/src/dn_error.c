#include "dn_pson.h"

/* One string for each kind, in sequence: a table of pointers would be as large as the names, and would be in RAM on AVR. */
static const char names[] DN_FLASH = "ok\0truncated\0malformed\0type\0range\0limit\0unknown";
static const char texts[] DN_FLASH =
    "no error\0"
    "the bytes end before the message does\0"
    "the bytes are not a PSON message\0"
    "an item has a different type than requested\0"
    "the value does not fit the requested type\0"
    "the message is nested too deeply or too large\0"
    "unknown error";

static char read_char(const char *at)
{
#if defined(__AVR__)
    return (char)pgm_read_byte(at);
#else
    return *at;
#endif
}

/* Returns the string number `index` of `list`; an unknown kind gets the last one. */
static const char *find_string(const char *list, dn_error index)
{
    for (index = index > DN_LIMIT ? DN_LIMIT + 1 : index; index; index--)
        while (read_char(list++)) {}
    return list;
}

dn_flash_text dn_error_name(dn_error kind)
{
    return (dn_flash_text)find_string(names, kind);
}

dn_flash_text dn_error_text(dn_error kind)
{
    return (dn_flash_text)find_string(texts, kind);
}
