/* The input determines the written items: a value, which must be canonical in every buffer, and then calls in any order. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, read byte by byte; zeros follow its end. */
typedef struct {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t keys; /* keys written so far */
} input;

static uint8_t read_byte(input *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static uint64_t read_bits(input *s, uint8_t bytes)
{
    uint64_t bits = 0;
    while (bytes--) bits = bits << 8 | read_byte(s);
    return bits;
}

static float read_float(input *s)
{
    uint32_t bits = (uint32_t)read_bits(s, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double read_double(input *s)
{
    uint64_t bits = read_bits(s, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t read_text(input *s, char *text)
{
    size_t size = read_byte(s) % 80;
    for (size_t i = 0; i < size; i++) text[i] = (char)(read_byte(s) & 0x7f);
    text[size] = 0;
    return size;
}

enum { SCALARS = 12 };

static void write_scalar(dn_writer *w, input *s, uint8_t which)
{
    char text[80];
    size_t size;
    switch (which) {
    case 0: dn_write_uint(w, (uint32_t)read_bits(s, 4)); break;
    case 1: dn_write_int(w, (int32_t)(uint32_t)read_bits(s, 4)); break;
    case 2: dn_write_u64(w, read_bits(s, 8)); break;
    case 3: dn_write_i64(w, (int64_t)read_bits(s, 8)); break;
    case 4: dn_write_float(w, read_float(s)); break;
    case 5: dn_write_double(w, read_double(s)); break;
    case 6: dn_write_bool(w, read_byte(s) & 1); break;
    case 7: dn_write_null(w); break;
    case 8:
        size = read_text(s, text);
        dn_write_text(w, text, size);
        break;
    case 9:
        read_text(s, text);
        dn_write_str(w, text);
        break;
    case 10:
        size = read_text(s, text);
        dn_write_bytes(w, text, size);
        break;
    default: dn_write_uint(w, read_byte(s)); break;
    }
}

static void write_key(dn_writer *w, input *s)
{
    char key[12];
    uint32_t n = s->keys++; /* every key is different */
    size_t size = 0;
    do key[size++] = (char)('a' + n % 26);
    while (n /= 26);
    if (read_byte(s) & 1) dn_write_short_key(w, key, (uint8_t)(0x80 | size));
    else dn_write_text(w, key, size);
}

/* Writes a value of any depth. `open` allows containers whose count is known only at their end. */
static void write_value(dn_writer *w, input *s, bool open, uint8_t depth)
{
    uint8_t which = read_byte(s) % (SCALARS + 8);
    if (which < SCALARS || depth == DN_NESTING) {
        write_scalar(w, s, which % SCALARS);
        return;
    }
    bool map = which & 1;
    bool later = open && which & 2;
    uint32_t count = s->at < s->end ? read_byte(s) % 40 : 0;
    size_t opened = 0;
    if (later) opened = map ? dn_write_map_open(w) : dn_write_array_open(w);
    else if (map) dn_write_map(w, count);
    else dn_write_array(w, count);
    for (uint32_t i = 0; i < count; i++) {
        if (map) write_key(w, s);
        write_value(w, s, open, (uint8_t)(depth + 1));
    }
    if (later) dn_write_close(w, opened, count);
}

static void write_message(dn_writer *w, const uint8_t *data, size_t size, bool open)
{
    input s = {data, data + size, 0};
    write_value(w, &s, open, 0);
}

/* ---- Sinks --------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *expected;
    size_t taken;
    size_t most;
} comparison;

static bool compare(void *context, const uint8_t *bytes, size_t size)
{
    comparison *with = (comparison *)context;
    REQUIRE(size > 0);
    if (size > with->most - with->taken) return false;
    REQUIRE(memcmp(with->expected + with->taken, bytes, size) == 0);
    with->taken += size;
    return true;
}

/* Writes the message through a sink with a chunk of `chunk` bytes, which accepts `most` bytes. */
static void write_to_sink(const uint8_t *data, size_t size, bool open, const uint8_t *expected, size_t length, size_t chunk, size_t most)
{
    comparison with = {expected, 0, most};
    dn_sink sink;
    uint8_t *room = (uint8_t *)malloc(chunk);
    REQUIRE(room != NULL);
    dn_sink_init(&sink, room, chunk, compare, &with);
    write_message(&sink.writer, data, size, open);
    bool finished = dn_sink_finish(&sink);
    REQUIRE(finished == (most >= length) && finished == !sink.writer.error);
    REQUIRE(dn_written(&sink.writer) == length && with.taken == sink.taken);
    if (finished) REQUIRE(with.taken == length);
    else REQUIRE(sink.writer.error == DN_TRUNCATED && dn_write_error_offset(&sink.writer) == with.taken);
    free(room);
}

/* Writes the message to a buffer that is too small. */
static void write_to_small_buffer(const uint8_t *data, size_t size, const uint8_t *expected, size_t length, size_t room)
{
    dn_writer w;
    uint8_t *buffer = (uint8_t *)malloc(room ? room : 1);
    REQUIRE(buffer != NULL);
    memset(buffer, 0xee, room);
    dn_writer_init(&w, buffer, room);
    write_message(&w, data, size, false);
    REQUIRE(w.error == DN_TRUNCATED && dn_write_error_offset(&w) == room && dn_written(&w) == length);
    size_t written = 0;
    while (written < room && buffer[written] == expected[written]) written++;
    for (; written < room; written++) REQUIRE(buffer[written] == 0xee);
    free(buffer);
}

/* ---- Any calls ------------------------------------------------------------------------------------------------------------ */

/* Makes calls that do not belong together. They may produce an invalid message, but must not access other memory. */
static void misuse(dn_writer *w, input *s)
{
    size_t opened[4] = {0, 0, 0, 0};
    while (s->at < s->end) {
        uint8_t which = read_byte(s);
        switch (which % 8) {
        case 0: dn_write_map(w, (uint32_t)read_bits(s, 4)); break;
        case 1: dn_write_array(w, (uint32_t)read_bits(s, 4)); break;
        case 2: opened[which >> 3 & 3] = dn_write_map_open(w); break;
        case 3: opened[which >> 3 & 3] = dn_write_array_open(w); break;
        case 4: dn_write_close(w, opened[which >> 3 & 3], (uint32_t)read_bits(s, 2)); break;
        case 5: dn_write_close(w, (size_t)read_bits(s, 2), read_byte(s)); break;
        default: write_scalar(w, s, (which >> 3) % SCALARS);
        }
    }
}

static void misuse_writers(const uint8_t *data, size_t size)
{
    if (size < 2) return;
    size_t room = data[0];
    uint8_t *buffer = (uint8_t *)malloc(room ? room : 1);
    REQUIRE(buffer != NULL);
    input s = {data + 1, data + size, 0};
    dn_writer w;
    dn_writer_init(&w, buffer, room);
    misuse(&w, &s);
    REQUIRE(w.error || dn_written(&w) <= room);
    free(buffer);

    comparison with = {NULL, 0, 0};
    dn_sink sink;
    buffer = (uint8_t *)malloc(room + 16);
    REQUIRE(buffer != NULL);
    dn_sink_init(&sink, buffer, room + 16, compare, &with);
    input again = {data + 1, data + size, 0};
    misuse(&sink.writer, &again);
    dn_sink_finish(&sink);
    free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 512) return 0;
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    write_message(&w, data, size, false);
    REQUIRE(!w.error);
    size_t length = dn_written(&w);
    uint8_t *message = (uint8_t *)malloc(length);
    uint8_t *again = (uint8_t *)malloc(length);
    REQUIRE(message != NULL && again != NULL);
    dn_writer_init(&w, message, length);
    write_message(&w, data, size, false);
    REQUIRE(!w.error && dn_written(&w) == length);
    REQUIRE(dn_check(message, length, true).kind == DN_OK);
    dn_writer_init(&w, again, length);
    write_message(&w, data, size, true);
    REQUIRE(!w.error && dn_written(&w) == length && memcmp(message, again, length) == 0);

    for (size_t room = 0; room < length; room += length / 5 + 1) {
        write_to_small_buffer(data, size, message, length, room);
        write_to_sink(data, size, false, message, length, 16 + room % 64, room);
        write_to_sink(data, size, true, message, length, length + 16, room);
    }
    write_to_sink(data, size, false, message, length, 16, SIZE_MAX);
    write_to_sink(data, size, true, message, length, length + 16, SIZE_MAX);
    free(message);
    free(again);
    misuse_writers(data, size);
    return 0;
}
