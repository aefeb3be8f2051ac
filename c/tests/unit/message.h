/* Messages from literals, in memory of exactly their size, so that AddressSanitizer detects reading beyond it. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdlib.h>

#include "test.h"

static uint8_t *message; /* the last message made */
static size_t message_size;

static inline void message_allocate(size_t size)
{
    free(message);
    message = (uint8_t *)malloc(size ? size : 1);
    message_size = size;
}

static inline void message_copy(const char *literal, size_t size)
{
    message_allocate(size);
#if defined(__AVR__)
    memcpy_P(message, literal, size);
#else
    memcpy(message, literal, size);
#endif
}

/* Truncates the message to its first `size` bytes. */
static inline void message_truncate(size_t size)
{
    uint8_t *previous = message;
    message = NULL;
    message_allocate(size);
    memcpy(message, previous, size);
    free(previous);
}

/* MESSAGE("\xc1\x81" "a" "\x00") */
#define MESSAGE(literal) message_copy(TEST_LITERAL("" literal), sizeof("" literal) - 1)

/* Returns a pseudorandom number; `*state` must not be 0. */
static inline uint32_t message_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
