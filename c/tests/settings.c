/* A program for settings.sh; PROGRAM selects the functions that it calls. Each of them reads 32 nested maps or arrays, which
 * overflow a reader that is smaller than the library expects. Exits with 0 if the limit of DN_NESTING is kept. */
#include <dn_bind.h>
#include <dn_json.h>

#if PROGRAM == 2
typedef struct {
    uint32_t present;
    uint8_t value;
} content;
DN_TABLE(table, content, present,
    DN_FIELD(value, "value", u8));
#endif

#if PROGRAM == 4 /* another file initializes the reader */
#ifdef __cplusplus
extern "C"
#endif
void begin(dn_reader *r, const void *message, size_t size);
#endif

/* The error expected after `n` nested containers. */
#define EXPECTED(n) (DN_NESTING < (n) ? DN_LIMIT : DN_TRUNCATED)

int main(void)
{
    uint8_t message[32];
    memset(message, 0xe1, sizeof message);
#if PROGRAM == 1
    dn_reader r;
    dn_reader_init(&r, message, sizeof message);
    while (dn_next(&r)) {}
    return r.error != EXPECTED(32);
#elif PROGRAM == 2
    dn_reader r;
    content c;
    memcpy(message, "\xc1\x84skip", 6);
    return dn_bind(&r, message, sizeof message, &table, &c) || r.error != EXPECTED(27);
#elif PROGRAM == 3
    dn_writer w;
    dn_json_reader j;
    memset(message, '[', sizeof message);
    dn_writer_init(&w, NULL, 0);
    dn_json_reader_init(&j, &w);
    dn_json_read(&j, (const char *)message, sizeof message);
    dn_json_finish(&j);
    return j.error != EXPECTED(32);
#elif PROGRAM == 4
    dn_reader r;
    begin(&r, message, sizeof message);
    while (dn_next(&r)) {}
    return r.error != EXPECTED(32);
#endif
}
