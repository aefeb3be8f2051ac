/* Passes NULL and 0 wherever the library has a pointer and a size as parameters; the undefined behaviour sanitizer watches. */
#include "dn_bind.h"
#include "dn_json.h"
#include "message.h"

typedef struct {
    uint32_t present;
    dn_view view;
} content;

DN_TABLE(content_table, content, present, DN_FIELD(view, "", text));

static void reader(void)
{
    dn_reader r;
    content c;
    dn_fault fault = dn_check(NULL, 0, true);
    CHECK(fault.kind == DN_TRUNCATED && fault.offset == 0);
    CHECK(dn_is_utf8(NULL, 0));
    CHECK(!dn_bind(&r, NULL, 0, &content_table, &c) && r.error == DN_TRUNCATED && dn_error_offset(&r) == 0);
    dn_reader_init(&r, NULL, 0);
    CHECK(!dn_next(&r) && !dn_done(&r) && dn_error_offset(&r) == 0);
    dn_reader_init(&r, NULL, 0);
    dn_skip(&r);
    dn_leave(&r);
    CHECK(r.error == DN_TRUNCATED);
    dn_reader_init(&r, NULL, SIZE_MAX); /* a caller with a wrong size */
    CHECK(!dn_next(&r) && r.error == DN_LIMIT && dn_error_offset(&r) == DN_MESSAGE_MAX);
}

static void keys_and_texts(void)
{
    MESSAGE("\xc1\x80\x80"); /* {"":""} */
    dn_reader r;
    content c;
    CHECK(dn_bind(&r, message, message_size, &content_table, &c) && c.view.size == 0);
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_map(&r));
    dn_mark map = dn_mark_here(&r);
    CHECK(dn_find(&r, &map, NULL, 0) && dn_read_text(&r) && DN_KEY_IS(&r, ""));
    CHECK(!dn_copy_text(&r, NULL, 0) && r.error == DN_RANGE);
    MESSAGE("\xc1\x81x\x80");
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_map(&r));
    map = dn_mark_here(&r);
    CHECK(!dn_find(&r, &map, NULL, 0) && !r.error);
}

static bool count_bytes(void *context, const uint8_t *bytes, size_t size)
{
    size_t *taken = (size_t *)context;
    (void)bytes;
    *taken += size;
    return true;
}

static void writer(void)
{
    dn_writer w;
    uint8_t buffer[2];
    dn_writer_init(&w, NULL, 0);
    dn_write_text(&w, NULL, 0);
    dn_write_bytes(&w, NULL, 0);
    dn_write_u64(&w, UINT64_MAX);
    dn_write_close(&w, dn_write_map_open(&w), 0);
    CHECK(!w.error && dn_written(&w) == 14 && dn_write_error_offset(&w) == 0);
    dn_writer_init(&w, buffer, sizeof buffer);
    dn_write_text(&w, NULL, 0);
    dn_write_bytes(&w, NULL, 0);
    CHECK(!w.error);
    CHECK_BYTES(buffer, dn_written(&w), "\x80\xa0");

    uint8_t chunk[16];
    size_t taken = 0;
    dn_sink sink;
    dn_sink_init(&sink, chunk, sizeof chunk, count_bytes, &taken);
    dn_write_array(&sink.writer, 20);
    for (uint8_t i = 0; i < 20; i++) dn_write_bytes(&sink.writer, NULL, 0); /* also when the chunk is full */
    CHECK(dn_sink_finish(&sink) && taken == 21);
}

static void json(void)
{
    dn_writer w;
    dn_json_reader j;
    dn_reader r;
    size_t taken = 0;
    dn_writer_init(&w, NULL, 0);
    dn_json_reader_init(&j, &w);
    CHECK(dn_json_read(&j, NULL, 0) && !dn_json_finish(&j) && j.error == DN_TRUNCATED);
    dn_reader_init(&r, NULL, 0);
    CHECK(!dn_json_write(&r, count_bytes, &taken) && r.error == DN_TRUNCATED && taken == 0);
}

int main(void)
{
    TEST(reader);
    TEST(keys_and_texts);
    TEST(writer);
    TEST(json);
    return test_end("null");
}
