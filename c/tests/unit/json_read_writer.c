/* JSON to PSON: the writer to which the JSON reader writes, with buffers of every size, with a sink, and within a message. */
#include "json_run.h"

static const char document[] =
    "{\"sensor\":\"north \\u00e9\",\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32.5],"
    "\"text\":\"a text that is longer than thirty bytes, so that its header grows\",\"n\":{\"x\":-1.03,\"y\":null}}";

static void every_buffer_size(void)
{
    size_t size = to_message(document, sizeof document - 1, 50, 50).size;
    static uint8_t expected[512];
    memcpy(expected, message, size);
    for (size_t room = 0; room <= size + 3; room++) {
        uint8_t *buffer = (uint8_t *)malloc(room + 1);
        dn_writer w;
        dn_writer_init(&w, buffer, room);
        outcome o = read_json(document, sizeof document - 1, 50, 50, &w);
        CHECK(!o.error && o.write_error == (room < size ? DN_TRUNCATED : DN_OK));
        CHECK(room < size ? o.size >= size : o.size == size && memcmp(buffer, expected, size) == 0);
        CHECK(o.size == size);
        free(buffer);
    }
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    outcome o = read_json(document, sizeof document - 1, 50, 50, &w);
    CHECK(!o.error && !o.write_error && o.size == size);
}

static void sink(void)
{
    size_t size = to_message(document, sizeof document - 1, 50, 50).size;
    uint8_t chunk[512];
    static char taken[1024];
    for (size_t room = 16; room <= size + 3; room++) {
        dn_sink sink;
        collector c = {0, sizeof taken, taken};
        /* `collect` requires pieces of at most 32 bytes. */
        dn_sink_init(&sink, chunk, room, collect, &c);
        outcome o = read_json(document, sizeof document - 1, 50, 50, &sink.writer);
        CHECK(!o.error && o.write_error == (room < size ? DN_TRUNCATED : DN_OK));
    }
}

static void within_a_message(void)
{
    dn_writer w;
    dn_json_reader j;
    dn_writer_init(&w, message, sizeof message);
    dn_write_map(&w, 2);
    DN_WRITE_KEY(&w, "a");
    dn_json_reader_init(&j, &w);
    dn_json_read(&j, "[1,\"x\"]", 7);
    CHECK(dn_json_finish(&j));
    DN_WRITE_KEY(&w, "b");
    dn_write_null(&w);
    CHECK(dn_written(&w) == 10 && memcmp(message, "\xc2\x81""a\xe2\x01\x81x\x81""b\x62", 10) == 0);
    dn_json_read(&j, NULL, 0);
    CHECK(!j.error);
}

int main(void)
{
    TEST(every_buffer_size);
    TEST(sink);
    TEST(within_a_message);
    return test_end("json_read_writer");
}
