/* Requests that read: a whole message, item by item, by skipping, by key. */
#include "conform.h"

static void print_container(const dn_reader *r)
{
    port_put(r->type == DN_MAP ? 'm' : 'a');
    print_unsigned(r->n);
}

static void begin(dn_reader *r, const uint8_t *message, size_t size, bool strict)
{
    dn_reader_init(r, message, size);
    if (strict) dn_reader_strict(r);
}

/* Reads with dn_next only. Prints each item if `printing`. */
static dn_fault read_items(const uint8_t *message, size_t size, bool strict, bool printing)
{
    dn_reader r;
    begin(&r, message, size, strict);
    while (dn_next(&r) != DN_STOP) {
        if (!printing || r.type == DN_END) continue;
        port_put(' ');
        if (r.type == DN_MAP || r.type == DN_ARRAY) {
            print_container(&r);
        } else if (r.type == DN_KEY) {
            port_put('s');
            print_hex((const uint8_t *)dn_chars(&r), (size_t)r.n);
        } else {
            print_item(&r);
        }
    }
    dn_done(&r);
    dn_fault fault = {r.error, dn_error_offset(&r)};
    return fault;
}

/* Reads one item and everything in it with dn_read_key and dn_more. */
static void pull_item(dn_reader *r, bool printing)
{
    uint32_t maps = 0; /* one bit per level, the innermost lowest */
    uint8_t depth = 0;
    do {
        if (depth) {
            bool more = maps & 1 ? dn_read_key(r) : dn_more(r);
            if (!more) {
                maps >>= 1;
                depth--;
                continue;
            }
            if (printing && maps & 1) {
                PRINT(" s");
                print_hex((const uint8_t *)dn_chars(r), (size_t)r->n);
            }
        }
        dn_type type = dn_next(r);
        if (printing) port_put(' ');
        if (type == DN_MAP || type == DN_ARRAY) {
            maps = maps << 1 | (type == DN_MAP);
            depth++;
            if (printing) print_container(r);
        } else if (printing) {
            print_item(r);
        }
    } while (depth && !r->error);
}

void decode(const uint8_t *message, size_t size, bool strict)
{
    dn_fault fault = dn_check(message, size, strict);
    if (fault.kind) {
        print_error(fault.kind, fault.offset);
        return;
    }
    PRINT("ok");
    fault = read_items(message, size, strict, true);
    if (fault.kind) PRINT(" fault dn_check finds nothing, dn_next does");
}

void walk(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r;
    begin(&r, message, size, strict);
    pull_item(&r, false);
    dn_done(&r);
    dn_fault fault = read_items(message, size, strict, false);
    if (fault.kind != r.error || (r.error && fault.offset != dn_error_offset(&r))) {
        PRINT("fault dn_next and dn_more differ: ");
        print_error(fault.kind, fault.offset);
        port_put(' ');
    }
    if (r.error) {
        print_error(r.error, dn_error_offset(&r));
        return;
    }
    PRINT("ok");
    begin(&r, message, size, strict);
    pull_item(&r, true);
}

void skip(const uint8_t *message, size_t size, bool strict)
{
    dn_reader r;
    begin(&r, message, size, strict);
    dn_skip(&r);
    if (dn_done(&r)) PRINT("ok");
    else print_error(r.error, dn_error_offset(&r));
}

void find(const char *key, size_t key_size, const uint8_t *message, size_t size)
{
    dn_reader r;
    begin(&r, message, size, false);
    dn_read_map(&r);
    dn_mark map = dn_mark_here(&r);
    bool found = dn_find(&r, &map, key, key_size);
    dn_reader value = r;
    if (found) pull_item(&r, false);
    dn_leave(&r);
    if (!dn_done(&r)) {
        print_error(r.error, dn_error_offset(&r));
        return;
    }
    if (!found) {
        PRINT("ok absent");
        return;
    }
    PRINT("ok");
    pull_item(&value, true);
}
