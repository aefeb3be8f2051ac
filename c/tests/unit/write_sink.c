/* Sinks, and containers whose number of entries is known only at their end. */
#include "dn_pson.h"

#include "test.h"

enum { MOST = 340 };

/* The bytes that a sink has accepted, and the limit. */
typedef struct {
    size_t taken;
    size_t allowed;
    size_t most; /* the largest piece */
} recorder;

static uint8_t sent[MOST];
static uint8_t message[MOST];
static uint8_t chunk[256];

static bool record(void *context, const uint8_t *bytes, size_t size)
{
    recorder *r = (recorder *)context;
    CHECK(size > 0);
    if (size > r->most) r->most = size;
    if (size > r->allowed - r->taken) return false;
    memcpy(sent + r->taken, bytes, size);
    r->taken += size;
    return true;
}

/* Writes a message in which, for some chunk size, every kind of item meets the end of the chunk. */
static void write_message(dn_writer *w)
{
    static const char text[] = "a text that is longer than most of the chunks which it goes through";
    dn_write_array(w, 40);
    for (uint8_t i = 0; i < 2; i++) {
        dn_write_uint(w, 1351824120);
        DN_WRITE_KEY(w, "1234567890123456789012345678901");
        dn_write_null(w);
        dn_write_float(w, 1.5f);
        dn_write_text(w, text, i ? 5 : sizeof text - 1);
        dn_write_i64(w, INT64_MIN);
        dn_write_float(w, 3e18f);
        dn_write_text(w, NULL, 0);
        DN_WRITE_KEY(w, "key");
        dn_write_int(w, -77);
    }
}

static size_t message_size;

static void writes_the_message(void)
{
    dn_writer w;
    dn_writer_init(&w, message, sizeof message);
    write_message(&w);
    CHECK_EQ(w.error, DN_OK);
    message_size = dn_written(&w);
    CHECK(message_size > 200 && message_size < MOST);
}

static void passes_on_chunks_of_every_size(void)
{
    for (size_t size = 16; size <= sizeof chunk; size++) {
        recorder r = {0, MOST, 0};
        dn_sink s;
        dn_sink_init(&s, chunk, size, record, &r);
        write_message(&s.writer);
        CHECK_EQ(dn_written(&s.writer), message_size);
        CHECK(dn_sink_finish(&s));
        CHECK_EQ(s.writer.error, DN_OK);
        CHECK_EQ(dn_written(&s.writer), message_size);
        CHECK_EQ(r.taken, message_size);
        CHECK_EQ(s.taken, message_size);
        CHECK(r.most <= size);
        CHECK(memcmp(sent, message, message_size) == 0);
    }
}

static void stays_within_chunks_that_are_too_small(void)
{
    for (size_t size = 0; size < 16; size++) {
        recorder r = {0, MOST, 0};
        dn_sink s;
        memset(chunk, 0xee, 17);
        dn_sink_init(&s, chunk, size, record, &r);
        write_message(&s.writer);
        bool finished = dn_sink_finish(&s);
        CHECK_EQ(dn_written(&s.writer), message_size);
        CHECK_EQ(finished, s.writer.error == DN_OK);
        CHECK_EQ(finished, size >= 11); /* the longest item that is not text */
        CHECK_EQ(s.writer.error, finished ? DN_OK : DN_TRUNCATED);
        CHECK_EQ(r.taken, s.taken);
        CHECK(memcmp(sent, message, r.taken) == 0);
        CHECK_EQ(chunk[size], 0xee);
    }
}

static void stops_when_the_sink_fails(void)
{
    for (size_t size = 16; size <= 96; size += 5) {
        for (size_t allowed = 0; allowed < message_size; allowed++) {
            recorder r = {0, allowed, 0};
            dn_sink s;
            dn_sink_init(&s, chunk, size, record, &r);
            write_message(&s.writer);
            CHECK(!dn_sink_finish(&s));
            CHECK_EQ(s.writer.error, DN_TRUNCATED);
            CHECK_EQ(dn_write_error_offset(&s.writer), r.taken);
            CHECK_EQ(s.taken, r.taken);
            CHECK_EQ(dn_written(&s.writer), message_size);
            CHECK(memcmp(sent, message, r.taken) == 0);
            size_t taken = r.taken;
            r.allowed = MOST;
            CHECK(!dn_sink_finish(&s)); /* the error sticks */
            CHECK_EQ(r.taken, taken);
        }
    }
}

static bool count_bytes(void *context, const uint8_t *bytes, size_t size)
{
    (void)bytes;
    *(uint32_t *)context += (uint32_t)size;
    return true;
}

static void rejects_messages_over_the_limit(void)
{
    for (size_t more = 0; more < 40; more += 3) {
        uint32_t taken = 0;
        dn_sink s;
        dn_sink_init(&s, chunk, 100, count_bytes, &taken);
        for (size_t i = 0; i < DN_MESSAGE_MAX - 20; i++) dn_write_null(&s.writer);
        for (size_t i = 0; i < more; i++) dn_write_null(&s.writer);
        CHECK_EQ(s.writer.error, more <= 20 ? DN_OK : DN_LIMIT);
        CHECK_EQ(dn_written(&s.writer), DN_MESSAGE_MAX - 20 + more);
        CHECK_EQ(dn_sink_finish(&s), more <= 20);
        CHECK(taken <= DN_MESSAGE_MAX);
        if (more > 20) CHECK_EQ(dn_write_error_offset(&s.writer), DN_MESSAGE_MAX);
    }
    uint32_t taken = 0;
    dn_sink s;
    dn_sink_init(&s, chunk, 100, count_bytes, &taken);
    for (size_t i = 0; i < 3 * (DN_MESSAGE_MAX / 100); i++) dn_write_bytes(&s.writer, message, 100);
    CHECK_EQ(s.writer.error, DN_LIMIT);
    CHECK(!dn_sink_finish(&s));
}

/* ---- Open containers ---- */

static void check_container_of(uint32_t count)
{
    uint8_t expected[256], buffer[256];
    dn_writer e, w, m;
    dn_writer_init(&e, expected, sizeof expected);
    dn_write_bool(&e, true);
    dn_write_array(&e, count);
    for (uint32_t i = 0; i < count; i++) dn_write_uint(&e, i % 31);
    dn_write_bool(&e, false);
    CHECK_EQ(e.error, DN_OK);
    size_t size = dn_written(&e);

    dn_writer_init(&m, NULL, 0);
    for (size_t room = size > 6 ? size - 6 : 0; room <= size; room++) {
        dn_writer_init(&w, buffer, room);
        dn_writer *both[2] = {&w, &m};
        dn_writer_init(&m, NULL, 0);
        for (uint8_t k = 0; k < 2; k++) {
            dn_write_bool(both[k], true);
            size_t opened = dn_write_array_open(both[k]);
            for (uint32_t i = 0; i < count; i++) dn_write_uint(both[k], i % 31);
            dn_write_close(both[k], opened, count);
            dn_write_bool(both[k], false);
            CHECK_EQ(dn_written(both[k]), size);
        }
        CHECK_EQ(m.error, DN_OK);
        CHECK_EQ(w.error, room == size ? DN_OK : DN_TRUNCATED);
        if (room == size) CHECK(memcmp(buffer, expected, size) == 0);
        else CHECK_EQ(dn_write_error_offset(&w), room);
    }
}

static void closes_containers_of_every_count(void)
{
    for (uint32_t count = 0; count <= 200; count++) check_container_of(count);
}

#if SIZE_MAX > 0xffff
static void closes_large_containers(void)
{
    static uint8_t buffer[80000];
    static const uint32_t counts[] = {16383, 16384, 70000};
    for (uint8_t i = 0; i < 3; i++) {
        dn_writer w;
        dn_writer_init(&w, buffer, sizeof buffer);
        size_t opened = dn_write_map_open(&w);
        for (uint32_t k = 0; k < counts[i]; k++) dn_write_uint(&w, k % 31);
        dn_write_close(&w, opened, counts[i]);
        CHECK_EQ(w.error, DN_OK);
        dn_writer e;
        uint8_t head[8];
        dn_writer_init(&e, head, sizeof head);
        dn_write_map(&e, counts[i]);
        CHECK_EQ(dn_written(&w), dn_written(&e) + counts[i]);
        CHECK(memcmp(buffer, head, dn_written(&e)) == 0);
        CHECK_EQ(buffer[dn_written(&e)], 0);
        CHECK_EQ(buffer[dn_written(&w) - 1], (counts[i] - 1) % 31);
    }
}
#endif

/* {"a":[...40 nulls],"b":{"c":[]},"d":1}, with counts known at the end or in advance. */
static void write_nested(dn_writer *w, bool open)
{
    size_t map = 0, array = 0, inner = 0, none = 0;
    if (open) map = dn_write_map_open(w);
    else dn_write_map(w, 3);
    DN_WRITE_KEY(w, "a");
    if (open) array = dn_write_array_open(w);
    else dn_write_array(w, 40);
    for (uint8_t i = 0; i < 40; i++) dn_write_null(w);
    if (open) dn_write_close(w, array, 40);
    DN_WRITE_KEY(w, "b");
    if (open) inner = dn_write_map_open(w);
    else dn_write_map(w, 1);
    DN_WRITE_KEY(w, "c");
    if (open) none = dn_write_array_open(w);
    else dn_write_array(w, 0);
    if (open) {
        dn_write_close(w, none, 0);
        dn_write_close(w, inner, 1);
    }
    DN_WRITE_KEY(w, "d");
    dn_write_uint(w, 1);
    if (open) dn_write_close(w, map, 3);
}

static void closes_nested_containers(void)
{
    dn_writer e;
    dn_writer_init(&e, message, sizeof message);
    write_nested(&e, false);
    size_t size = dn_written(&e);

    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    write_nested(&w, true);
    CHECK_EQ(w.error, DN_OK);
    CHECK_EQ(dn_written(&w), size);
    for (size_t room = 0; room <= size; room++) {
        memset(chunk, 0xee, sizeof chunk);
        dn_writer_init(&w, chunk, room);
        write_nested(&w, true);
        CHECK_EQ(w.error, room == size ? DN_OK : DN_TRUNCATED);
        CHECK_EQ(dn_written(&w), size);
        CHECK_EQ(chunk[room], 0xee);
    }
    CHECK(memcmp(chunk, message, size) == 0);
}

static void keeps_an_open_container_in_the_chunk(void)
{
    dn_writer e;
    dn_writer_init(&e, message, sizeof message);
    for (uint8_t i = 0; i < 3; i++) {
        dn_write_str(&e, "before it");
        write_nested(&e, false);
        dn_write_float(&e, 0.5f);
    }
    size_t size = dn_written(&e);
    dn_writer one;
    dn_writer_init(&one, NULL, 0);
    write_nested(&one, false);
    size_t container = dn_written(&one);

    for (size_t room = 16; room < 120; room++) {
        recorder r = {0, MOST, 0};
        dn_sink s;
        dn_sink_init(&s, chunk, room, record, &r);
        for (uint8_t i = 0; i < 3; i++) {
            dn_write_str(&s.writer, "before it");
            write_nested(&s.writer, true);
            dn_write_float(&s.writer, 0.5f);
        }
        CHECK_EQ(dn_written(&s.writer), size);
        CHECK_EQ(dn_sink_finish(&s), room >= container);
        CHECK_EQ(s.writer.error, room >= container ? DN_OK : DN_TRUNCATED);
        CHECK_EQ(r.taken, room >= container ? size : dn_write_error_offset(&s.writer));
        CHECK(memcmp(sent, message, r.taken) == 0);
    }
}

static void rejects_closing_a_container_that_is_not_open(void)
{
    dn_writer w;
    dn_writer_init(&w, chunk, 64);
    dn_write_str(&w, "x");
    size_t opened = dn_write_map_open(&w);
    dn_write_close(&w, opened + 1, 0);
    CHECK_EQ(w.error, DN_WRONG_TYPE);
    CHECK_EQ(dn_write_error_offset(&w), 3);
    dn_write_null(&w);
    CHECK_EQ(w.error, DN_WRONG_TYPE);
    CHECK_EQ(dn_written(&w), 4);

    dn_writer_init(&w, chunk, 64);
    opened = dn_write_map_open(&w);
    dn_write_close(&w, opened, 5);
    dn_write_close(&w, opened, 5); /* twice */
    CHECK_EQ(w.error, DN_WRONG_TYPE);

    dn_writer_init(&w, chunk, 64);
    dn_write_close(&w, SIZE_MAX, 0);
    CHECK_EQ(w.error, DN_WRONG_TYPE);
    CHECK_EQ(dn_write_error_offset(&w), 0);

    recorder r = {0, MOST, 0};
    dn_sink s;
    dn_sink_init(&s, chunk, 16, record, &r);
    opened = dn_write_map_open(&s.writer);
    dn_write_close(&s.writer, opened, 0);
    for (uint8_t i = 0; i < 40; i++) dn_write_null(&s.writer);
    dn_write_close(&s.writer, opened, 1); /* the sink has received it */
    CHECK_EQ(s.writer.error, DN_WRONG_TYPE);
    CHECK(!dn_sink_finish(&s));

    dn_sink_init(&s, chunk, 16, record, &r);
    r.taken = 0;
    dn_write_map_open(&s.writer);
    CHECK(!dn_sink_finish(&s)); /* it is still open */
    CHECK_EQ(s.writer.error, DN_WRONG_TYPE);
    CHECK_EQ(r.taken, 0);
}

int main(void)
{
    TEST(writes_the_message);
    TEST(passes_on_chunks_of_every_size);
    TEST(stays_within_chunks_that_are_too_small);
    TEST(stops_when_the_sink_fails);
    TEST(rejects_messages_over_the_limit);
    TEST(closes_containers_of_every_count);
#if SIZE_MAX > 0xffff
    TEST(closes_large_containers);
#endif
    TEST(closes_nested_containers);
    TEST(keeps_an_open_container_in_the_chunk);
    TEST(rejects_closing_a_container_that_is_not_open);
    return test_end("write_sink");
}
