/* Reads one item as a number, and checks the result or the error. */
#ifndef READ_ITEM_H
#define READ_ITEM_H

#include "read_run.h"

#define TWO(exponent) ((uint64_t)1 << (exponent))

enum { ITEM = 2 }; /* the offset of the item, which is the second of [5, item, 7] */

/* Makes the message, and moves `r` before the item. */
static inline void begin_item(const void *item, size_t size)
{
    message_allocate(ITEM + size + 1);
    message[0] = 0xe3;
    message[1] = 5;
    memcpy(message + ITEM, item, size);
    message[ITEM + size] = 7;
    dn_reader_init(&r, message, message_size);
    CHECK(dn_read_array(&r));
    CHECK_EQ(dn_read_u8(&r), 5);
}

static inline void literal_item(const char *literal, size_t size)
{
    uint8_t item[16];
#if defined(__AVR__)
    memcpy_P(item, literal, size);
#else
    memcpy(item, literal, size);
#endif
    begin_item(item, size);
}

static inline void integer_item(uint8_t header, uint64_t n)
{
    uint8_t item[11];
    size_t size = 1;
    if (n > 30) {
        item[0] = header | 31;
        for (; n > 0x7f; n >>= 7) item[size++] = (uint8_t)(n | 0x80);
        item[size++] = (uint8_t)n;
    } else item[0] = (uint8_t)(header | n);
    begin_item(item, size);
}

static inline void bits_item(uint8_t header, uint64_t bits)
{
    uint8_t item[9];
    uint8_t size = header & 1 ? 8 : 4;
    item[0] = header;
    for (uint8_t i = 0; i < size; i++) item[1 + i] = (uint8_t)(bits >> 8 * i);
    begin_item(item, 1u + size);
}

#define LITERAL(literal) literal_item(TEST_LITERAL("" literal), sizeof("" literal) - 1)
#define UINT(n) integer_item(0x00, (n))
#define NEGATIVE(n) integer_item(0x20, (n))
#define FLOAT(bits) bits_item(0x40, (bits))
#define DOUBLE(bits) bits_item(0x41, (bits))

/* Checks that there is no error, and that the rest can be read. */
static inline void check_rest(unsigned line)
{
    test_check_eq(r.error, DN_OK, line, TEST_LITERAL("error"));
    test_check_eq(dn_read_u8(&r), 7, line, TEST_LITERAL("the next item"));
    test_check(!dn_more(&r) && dn_done(&r), line, TEST_LITERAL("done"));
}

static inline bool all_getters_return_0(void)
{
    bool zero = dn_get_uint(&r, UINT32_MAX) == 0 && dn_get_int(&r, INT32_MIN, INT32_MAX) == 0 && dn_get_u64(&r) == 0 && dn_get_i64(&r) == 0
        && dn_get_float(&r) == 0 && dn_get_double(&r) == 0 && !dn_get_bool(&r);
    return zero && r.n == 0 && !r.wide && r.type == DN_STOP;
}

static inline void check_error(dn_error kind, unsigned line)
{
    for (uint8_t again = 0; again < 2; again++) { /* nothing more can be read */
        test_check_eq(r.error, kind, line, TEST_LITERAL("error"));
        test_check_eq(dn_error_offset(&r), ITEM, line, TEST_LITERAL("offset"));
        test_check(all_getters_return_0(), line, TEST_LITERAL("everything is 0"));
        test_check(dn_next(&r) == DN_STOP && !dn_more(&r) && !dn_done(&r), line, TEST_LITERAL("stopped"));
    }
}

#define GIVES(item, found, expected) ((item), CHECK_EQ(found, expected), check_rest(__LINE__))
#define GIVES_FLOAT(item, found, expected) ((item), CHECK_DOUBLE(found, expected), check_rest(__LINE__))
#define REJECTED(item, found, kind) ((item), CHECK((found) == 0), check_error(kind, __LINE__))
#define OUT_OF_RANGE(item, found) REJECTED(item, found, DN_RANGE)

#endif
