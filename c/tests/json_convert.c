/* Converts between JSON and PSON, for comparison with other implementations. Each request is a line, and so is its
 * answer:
 *     J <hex of JSON text>       the message in hex, after `rounded ` if decimals may have lost digits, or `error <kind> <offset>`
 *     P <hex of a message>       the JSON text in hex, or `error <kind> <offset>`
 * JSON text is read in pieces whose size changes from request to request. */
#include "dn_json.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 4 << 20 };
static char line[2 * ROOM + 8];
static uint8_t input[ROOM], output[ROOM];

typedef struct {
    size_t size;
} collected;

static bool collect(void *context, const uint8_t *bytes, size_t size)
{
    collected *c = (collected *)context;
    if (size > sizeof output - c->size) return false;
    memcpy(output + c->size, bytes, size);
    c->size += size;
    return true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads hex to `input`, up to the end of the line. Returns the number of bytes. */
static size_t from_hex(const char *hex)
{
    size_t size = 0;
    for (; digit(hex[0]) >= 0 && digit(hex[1]) >= 0 && size < sizeof input; hex += 2)
        input[size++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
    return size;
}

static void answer(dn_error error, size_t offset, size_t size)
{
    if (error) {
        printf("error %s %lu\n", dn_error_name(error), (unsigned long)offset);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        static const char digits[] = "0123456789abcdef";
        putchar(digits[output[i] >> 4]);
        putchar(digits[output[i] & 15]);
    }
    putchar('\n');
}

static void to_message(size_t size, size_t piece)
{
    dn_writer w;
    dn_json_reader j;
    dn_writer_init(&w, output, sizeof output);
    dn_json_reader_init(&j, &w);
    for (size_t at = 0; at < size; at += piece) {
        if (piece > size - at) piece = size - at;
        dn_json_read(&j, (const char *)input + at, piece);
    }
    dn_json_finish(&j);
    if (j.rounded && !j.error && !w.error) fputs("rounded ", stdout);
    if (j.error) answer(j.error, j.offset, 0);
    else answer(w.error, dn_write_error_offset(&w), dn_written(&w));
}

static void to_json(size_t size)
{
    dn_reader r;
    collected c = {0};
    dn_reader_init(&r, input, size);
    bool ok = dn_json_write(&r, collect, &c) && dn_done(&r);
    answer(ok ? (dn_error)DN_OK : r.error, dn_error_offset(&r), c.size);
}

int main(void)
{
    for (size_t request = 0; fgets(line, sizeof line, stdin); request++) {
        size_t size = from_hex(line + 2);
        if (line[0] == 'J') to_message(size, 1 + request % 67);
        else to_json(size);
        fflush(stdout);
    }
    return 0;
}
