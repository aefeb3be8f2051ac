/* The executor of this library: answers requests on stdin with lines on stdout. Runs on the host and on a microcontroller. */
#ifndef CONFORM_H
#define CONFORM_H

#include "dn_pson.h"

#include <string.h>

/* A literal in a text of the program: on AVR in flash, as RAM is short. */
#if defined(__AVR__)
#define LITERAL(literal) PSTR(literal)
#define SAME_TEXT(text, literal) (strcmp_P((text), PSTR(literal)) == 0)
enum { LINE_SIZE = 760, OUT_SIZE = 200, TEXT_SIZE = 120 };
#else
#define LITERAL(literal) literal
#define SAME_TEXT(text, literal) (strcmp((text), literal) == 0)
enum { LINE_SIZE = 0x100000 * 2 + 64, OUT_SIZE = 0x100000, TEXT_SIZE = 0x100000 };
#endif

/* ---- The line ------------------------------------------------------------------------------------------------------------------ */

/* What has one end in the machine: in port_*.c. */
void port_begin(void);
int port_get(void); /* a byte, or -1 at the end */
void port_put(char c);
void port_flush(void);
void port_end(void);

void say(const char *literal); /* in flash on AVR */
#define SAY(literal) say(LITERAL(literal))
void say_unsigned(uint64_t n);
void say_signed(int64_t n); /* as a word */
void say_hex(const uint8_t *bytes, size_t size);

/* `error KIND OFFSET` */
void say_error(dn_error kind, size_t offset);

/* Turns the hex digits at `text` into bytes at the same place; their number, or SIZE_MAX when they are no hex. */
size_t unhex(char *text);

/* ---- Requests ------------------------------------------------------------------------------------------------------------------ */

/* Each is given the rest of the line, and answers all of it but the line's end. */
void decode(const uint8_t *message, size_t size, bool strict);
void walk(const uint8_t *message, size_t size, bool strict);
void skip(const uint8_t *message, size_t size, bool strict);
void read_as(char *type, const uint8_t *message, size_t size);
void find(const char *key, size_t key_size, const uint8_t *message, size_t size);
void fill_struct(const uint8_t *message, size_t size, bool strict);
void encode(const char *value, bool single);
void buffers(const char *value);

/* ---- Values -------------------------------------------------------------------------------------------------------------------- */

/* Says the current item, which is no container, key or end. */
void say_item(dn_reader *r);

/* Says a number, from the bits of its binary64. */
void say_double(uint64_t bits);
uint64_t bits_of_float(float value);
uint64_t bits_of_double(double value);

#endif
