/* Requests that read items as a type. */
#include "conform.h"

/* Reads the next item as `type`, and prints it if `printing`. Returns false if the type is unknown. */
static bool read_item_as(dn_reader *r, const char *type, bool printing)
{
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;
    if (SAME_TEXT(type, "u8")) u = dn_read_u8(r);
    else if (SAME_TEXT(type, "u16")) u = dn_read_u16(r);
    else if (SAME_TEXT(type, "u32")) u = dn_read_u32(r);
    else if (SAME_TEXT(type, "u64")) u = dn_read_u64(r);
    else if (SAME_TEXT(type, "i8")) i = dn_read_i8(r);
    else if (SAME_TEXT(type, "i16")) i = dn_read_i16(r);
    else if (SAME_TEXT(type, "i32")) i = dn_read_i32(r);
    else if (SAME_TEXT(type, "i64")) i = dn_read_i64(r);
    else if (SAME_TEXT(type, "f32")) d = (double)dn_read_float(r);
    else if (SAME_TEXT(type, "f64") && sizeof d == 8) d = dn_read_double(r);
    else if (SAME_TEXT(type, "bool")) dn_read_bool(r);
    else if (SAME_TEXT(type, "null")) dn_read_null(r);
    else if (SAME_TEXT(type, "str")) dn_read_text(r);
    else if (SAME_TEXT(type, "bytes")) dn_read_bytes(r);
    else return false;
    if (!printing || r->error) return true;
    port_put(' ');
    switch (type[0]) {
    case 'u':
        port_put('i');
        print_unsigned(u);
        break;
    case 'i': print_signed(i); break;
    case 'f': print_double(bits_of_double(d)); break;
    default: print_item(r);
    }
    return true;
}

static bool read_items_as(dn_reader *r, const char *type, bool list, bool printing)
{
    if (!list) return read_item_as(r, type, printing);
    dn_read_array(r);
    if (printing) {
        PRINT(" a");
        print_unsigned(r->n);
    }
    while (dn_more(r)) {
        if (!read_item_as(r, type, printing)) return false;
    }
    return true;
}

void read_as(char *type, const uint8_t *message, size_t size)
{
    dn_reader r;
    bool list = type[0] == '[';
    if (list) {
        type++;
        type[strlen(type) - 1] = 0;
    }
    dn_reader_init(&r, message, size);
    if (!read_items_as(&r, type, list, false)) {
        PRINT("skip");
        return;
    }
    if (!dn_done(&r)) {
        print_error(r.error, dn_error_offset(&r));
        return;
    }
    PRINT("ok");
    dn_reader_init(&r, message, size);
    read_items_as(&r, type, list, true);
}
