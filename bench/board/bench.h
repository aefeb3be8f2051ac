/* Runs the libraries of a sketch on its messages and reports over the serial line. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library. Messages have the indices of bench_names. */
typedef struct {
    const char *format, *library;
    /* Prepares the values of a message; NULL if nothing is to be done. */
    bool (*prepare)(uint8_t message);
    /* Encodes a message. Returns its size, or 0 if it does not fit. NULL if the library only decodes. */
    size_t (*encode)(uint8_t message, uint8_t *to, size_t size);
    /* Reads a message from bytes of its format. NULL if the library only encodes. */
    bool (*decode)(uint8_t message, const uint8_t *from, size_t size);
} bench_library;

/* From messages.c, which is generated. A library that only decodes follows the one that encodes for it. */
extern const char *const bench_names[];
extern const uint8_t bench_messages;
extern const bench_library bench_libraries[];
extern const uint8_t bench_library_count;
/* Receives the encoded message. */
extern uint8_t bench_buffer[];
extern const size_t bench_buffer_size;

/* The board: the time in microseconds, which may wrap, its serial line, and a pin that is high during each measurement. */
uint32_t bench_micros(void);
void bench_put(char c);
void bench_mark(bool high);

/* Says which keys there are. */
void bench_help(void);
/* Does what a key asks for, and ignores other keys. */
void bench_key(char key);

#ifdef __cplusplus
}
#endif

#endif
