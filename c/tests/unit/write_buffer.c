/* Buffers that are too small or missing, and messages that are too large. */
#include "dn_pson.h"

#include "test.h"

#if SIZE_MAX > 0xffff
#include <stdlib.h>
#endif

#define KEY_31 "1234567890123456789012345678901"

/* A message of ITEMS items, with every kind of item in every form. */
enum { ITEMS = 25, MOST = 340 };

static void write_item(dn_writer *w, uint8_t item)
{
    static const char text[] = "a text of more than thirty bytes, and of a hundred and twenty-seven at that, so that its length takes two "
                               "bytes, as it does in many messages.";
    switch (item) {
    case 0: dn_write_map(w, 12); break;
    case 1: DN_WRITE_KEY(w, "key"); break;
    case 2: dn_write_uint(w, 7); break;
    case 3: DN_WRITE_KEY(w, KEY_31); break;
    case 4: dn_write_uint(w, 100); break;
    case 5: dn_write_uint(w, 1000); break;
    case 6: dn_write_int(w, -100000); break;
    case 7: dn_write_int(w, INT32_MIN); break;
    case 8: dn_write_u64(w, UINT64_MAX); break;
    case 9: dn_write_float(w, 2.5f); break;
    case 10: dn_write_float(w, 77.0f); break;
    case 11: dn_write_float(w, 1e15f); break; /* 8 bytes */
    case 12: dn_write_double(w, 1.03); break;
    case 13: dn_write_bool(w, true); break;
    case 14: dn_write_null(w); break;
    case 15: dn_write_array(w, 100); break;
    case 16: dn_write_str(w, "short"); break;
    case 17: dn_write_str(w, KEY_31); break;
    case 18: dn_write_text(w, text, sizeof text - 1); break;
    case 19: dn_write_bytes(w, "\x01\x02\x03", 3); break;
    case 20: dn_write_text(w, NULL, 0); break;
    case 21: dn_write_bytes(w, text, 33); break;
    case 22: dn_write_uint(w, UINT32_MAX); break;
    case 23: DN_WRITE_KEY(w, ""); break;
    default: dn_write_i64(w, INT64_MIN); break;
    }
}

static uint8_t message[MOST];
static uint8_t buffer[MOST + 8];
static size_t ends[ITEMS]; /* the offset after each item */
static size_t message_size;

static void writes_the_message(void)
{
    dn_writer w;
    dn_writer_init(&w, message, sizeof message);
    for (uint8_t item = 0; item < ITEMS; item++) {
        write_item(&w, item);
        ends[item] = dn_written(&w);
        CHECK_EQ(w.error, DN_OK);
    }
    message_size = dn_written(&w);
    CHECK(message_size > 255 && message_size < MOST);
}

static void measures_without_a_buffer(void)
{
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    for (uint8_t item = 0; item < ITEMS; item++) {
        write_item(&w, item);
        CHECK_EQ(dn_written(&w), ends[item]);
    }
    CHECK_EQ(w.error, DN_OK);
    dn_writer_init(&w, NULL, 100);
    write_item(&w, 18);
    CHECK_EQ(dn_written(&w), ends[18] - ends[17]);
}

/* Writes all items to `size` bytes of a larger array. */
static void check_buffer_of(size_t size)
{
    dn_writer w;
    size_t fitting = 0; /* bytes of the items that fit */
    memset(buffer, 0xee, sizeof buffer);
    dn_writer_init(&w, buffer, size);
    for (uint8_t item = 0; item < ITEMS; item++) {
        write_item(&w, item);
        if (ends[item] <= size) fitting = ends[item];
        CHECK_EQ(w.error, ends[item] <= size ? DN_OK : DN_TRUNCATED);
        CHECK_EQ(dn_written(&w), ends[item]);
    }
    if (w.error) CHECK_EQ(dn_write_error_offset(&w), size);
    CHECK(memcmp(buffer, message, fitting) == 0);
    for (size_t i = fitting; i < sizeof buffer; i++)
        if (buffer[i] != 0xee) CHECK_EQ(i, fitting); /* a partial item, or a byte beyond the buffer */
}

static void stays_within_buffers_of_every_size(void)
{
    for (size_t size = 0; size <= message_size; size++) check_buffer_of(size);
}

/* Writes each item alone, to a buffer of its size, and to smaller ones. */
static void fills_buffers_to_the_last_byte(void)
{
    for (uint8_t item = 0; item < ITEMS; item++) {
        size_t begin = item ? ends[item - 1] : 0, size = ends[item] - begin;
        for (size_t room = 0; room <= size; room++) {
            dn_writer w;
            memset(buffer, 0xee, sizeof buffer);
            dn_writer_init(&w, buffer, room);
            write_item(&w, item);
            CHECK_EQ(dn_written(&w), size);
            CHECK_EQ(w.error, room == size ? DN_OK : DN_TRUNCATED);
            if (room == size) CHECK(memcmp(buffer, message + begin, size) == 0);
            else CHECK_EQ(buffer[0], 0xee);
            CHECK_EQ(buffer[room], 0xee);
        }
    }
}

static void stays_truncated(void)
{
    dn_writer w;
    memset(buffer, 0xee, sizeof buffer);
    dn_writer_init(&w, buffer, 4);
    dn_write_bool(&w, true);
    dn_write_str(&w, "long");
    dn_write_null(&w); /* would fit, but the error sticks */
    CHECK_EQ(w.error, DN_TRUNCATED);
    CHECK_EQ(dn_written(&w), 7);
    CHECK_EQ(dn_write_error_offset(&w), 4);
    CHECK_BYTES(buffer, 5, "\x61\xee\xee\xee\xee");
}

static void rejects_messages_over_the_limit(void)
{
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    dn_write_bytes(&w, message, DN_MESSAGE_MAX - 4);
    CHECK_EQ(w.error, DN_OK);
    CHECK_EQ(dn_written(&w), DN_MESSAGE_MAX);
    dn_write_null(&w);
    CHECK_EQ(w.error, DN_LIMIT);
    CHECK_EQ(dn_written(&w), DN_MESSAGE_MAX + 1);
    CHECK_EQ(dn_write_error_offset(&w), DN_MESSAGE_MAX);
}

static void count_saturates(void)
{
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    dn_write_bytes(&w, message, SIZE_MAX);
    CHECK_EQ(w.error, DN_LIMIT);
    CHECK(dn_written(&w) == SIZE_MAX);
    dn_write_bytes(&w, message, SIZE_MAX - 2);
    dn_write_uint(&w, 1000);
    CHECK(dn_written(&w) == SIZE_MAX);
    CHECK_EQ(dn_write_error_offset(&w), DN_MESSAGE_MAX);

    dn_writer_init(&w, buffer, 8);
    dn_write_text(&w, (const char *)message, SIZE_MAX - 1);
    CHECK(w.error != DN_OK);
    CHECK(dn_written(&w) == SIZE_MAX);
    for (uint8_t i = 0; i < 100; i++) dn_write_null(&w);
    CHECK(dn_written(&w) == SIZE_MAX);
}

#if SIZE_MAX > 0xffff
static void uses_a_large_buffer_up_to_the_limit(void)
{
    size_t size = DN_MESSAGE_MAX + 100;
    uint8_t *large = (uint8_t *)calloc(2, size);
    if (!large) return;
    dn_writer w;
    dn_writer_init(&w, large, size);
    dn_write_bytes(&w, large + size, DN_MESSAGE_MAX - 5);
    CHECK_EQ(w.error, DN_OK);
    dn_write_bool(&w, false);
    CHECK_EQ(w.error, DN_OK);
    dn_write_null(&w);
    CHECK_EQ(w.error, DN_LIMIT);
    CHECK_EQ(dn_write_error_offset(&w), DN_MESSAGE_MAX);
    CHECK_EQ(large[DN_MESSAGE_MAX], 0);
    free(large);
}
#endif

int main(void)
{
    TEST(writes_the_message);
    TEST(measures_without_a_buffer);
    TEST(stays_within_buffers_of_every_size);
    TEST(fills_buffers_to_the_last_byte);
    TEST(stays_truncated);
    TEST(rejects_messages_over_the_limit);
    TEST(count_saturates);
#if SIZE_MAX > 0xffff
    TEST(uses_a_large_buffer_up_to_the_limit);
#endif
    return test_end("write_buffer");
}
