/* Writes and reads a message on any AVR, without a serial line, in 512 bytes of RAM. At the end it sleeps with the number of failures in
 * r24, where part_run.c reads it. Covers every path with assembly of its own: keys in flash, long text from RAM and from flash, long
 * varints, a buffer that ends in the middle of an item, a sink that makes room, tables in flash. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>

#include <dn_bind.h>

static uint8_t failures;

#define CHECK(condition) ((condition) ? (void)0 : (void)failures++)

static const char long_text[] PROGMEM = "text of more than 30 bytes, which lies in flash";

typedef struct {
    uint32_t present;
    char name[6];
    int32_t number;
    float values[2];
    uint16_t values_count;
} content;

DN_TABLE(table, content, present,
    DN_FIELD(name, "name", chars),
    DN_FIELD(number, "number", i32),
    DN_FIELD_ARRAY(values, values_count, "values", float));

static void write_message(dn_writer *w)
{
    static const char copied[] = "text of more than 30 bytes, which lies in RAM";
    dn_write_map(w, 5);
    DN_WRITE_KEY(w, "name");
    dn_write_text(w, "AVR", 3);
    DN_WRITE_KEY(w, "number");
    dn_write_int(w, -123456789);
    DN_WRITE_KEY(w, "flash");
    dn_write_text_P(w, long_text, sizeof long_text - 1);
    DN_WRITE_KEY(w, "ram");
    dn_write_bytes(w, copied, sizeof copied - 1);
    DN_WRITE_KEY(w, "values");
    dn_write_array(w, 2);
    dn_write_float(w, 2.25f);
    dn_write_float(w, -16777216.0f);
}

static uint8_t buffer[160];
static size_t size;

/* Compares the bytes that a sink receives with the message in `buffer`. */
static bool compare(void *context, const uint8_t *bytes, size_t count)
{
    size_t *at = (size_t *)context;
    CHECK(*at + count <= size && memcmp(buffer + *at, bytes, count) == 0);
    *at += count;
    return true;
}

static void test_writer(void)
{
    dn_writer w;
    dn_writer_init(&w, buffer, sizeof buffer);
    write_message(&w);
    size = dn_written(&w);
    CHECK(!w.error && size == 146);

    uint8_t chunk[16];
    dn_sink sink;
    size_t taken = 0;
    dn_sink_init(&sink, chunk, sizeof chunk, compare, &taken);
    write_message(&sink.writer);
    CHECK(dn_sink_finish(&sink) && taken == size);

    /* For every buffer that is too small: no byte after its end is written, and the size is counted. */
    for (size_t room = 0; room < size; room++) {
        uint8_t end = buffer[room];
        dn_writer_init(&w, buffer, room);
        write_message(&w);
        CHECK(w.error == DN_TRUNCATED && dn_written(&w) == size && buffer[room] == end);
    }
}

static void test_reader(void)
{
    dn_reader r;
    content c;
    CHECK(dn_bind(&r, buffer, size, &table, &c));
    CHECK(c.present == 7 && memcmp(c.name, "AVR", 4) == 0 && c.number == -123456789);
    CHECK(c.values_count == 2 && c.values[0] == 2.25f && c.values[1] == -16777216.0f);

    dn_reader_init(&r, buffer, size);
    CHECK(dn_read_map(&r));
    dn_mark map = dn_mark_here(&r);
    CHECK(dn_find(&r, &map, "flash", 5) && dn_read_text(&r));
    CHECK(r.n == sizeof long_text - 1 && dn_chars_are(&r, long_text, sizeof long_text - 1));
    CHECK(dn_find(&r, &map, "name", 4) && dn_read_text(&r) && DN_KEY_IS(&r, "AVR"));
    CHECK(dn_find(&r, &map, "number", 6) && dn_read_i32(&r) == -123456789);
    dn_leave(&r);
    CHECK(dn_done(&r));
    for (size_t cut = 0; cut < size; cut++) {
        dn_reader_init(&r, buffer, cut);
        while (dn_next(&r)) {}
        CHECK(r.error == DN_TRUNCATED);
    }
}

int main(void)
{
    test_writer();
    test_reader();
    cli();
    register uint8_t result __asm__("r24") = failures;
    MCUCR |= _BV(SE);
    __asm__ volatile("sleep" : : "r"(result));
    for (;;) {}
}
