/* A reader of a message from a literal, and checks of its state after an error. */
#ifndef READ_RUN_H
#define READ_RUN_H

#include "dn_pson.h"

#include "message.h"

static dn_reader r;

static inline void begin(void) { dn_reader_init(&r, message, message_size); }

#define READ(literal) (MESSAGE(literal), begin())

static inline void check_failed(dn_error kind, size_t offset, unsigned line)
{
    for (uint8_t again = 0; again < 2; again++) { /* the error sticks whatever is called */
        test_check_eq(r.error, kind, line, TEST_LITERAL("error"));
        test_check_eq(dn_error_offset(&r), offset, line, TEST_LITERAL("offset"));
        test_check(!dn_more(&r) && !dn_read_key(&r) && !dn_read_map(&r) && !dn_read_array(&r) && !dn_read_text(&r) && !dn_read_null(&r), line,
                   TEST_LITERAL("nothing is read"));
        dn_mark here = dn_mark_here(&r);
        test_check(!dn_find(&r, &here, "a", 1), line, TEST_LITERAL("nothing is found"));
        dn_skip(&r);
        dn_leave(&r);
        test_check(dn_next(&r) == DN_STOP && r.type == DN_STOP && r.n == 0 && !r.wide && !dn_done(&r), line, TEST_LITERAL("stopped"));
    }
}

#define FAILED(kind, offset) check_failed(kind, offset, __LINE__)

#endif
