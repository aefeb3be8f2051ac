/* The conformance executor of this library: reads requests from stdin, and answers each with a line on stdout. Runs on the host
 * and on a microcontroller. */
#ifndef CONFORM_H
#define CONFORM_H

#include "dn_pson.h"

#include <string.h>

/* A string literal. On AVR it is in flash, because RAM is scarce. */
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

/* The interface to the machine, implemented in port_*.c. */
void port_begin(void);
int port_get(void); /* returns a byte, or -1 at the end of the input */
void port_put(char c);
void port_flush(void);
void port_end(void);

void print(const char *literal); /* in flash on AVR */
#define PRINT(literal) print(LITERAL(literal))
void print_unsigned(uint64_t n);
void print_signed(int64_t n); /* with the prefix of an integer value */
void print_hex(const uint8_t *bytes, size_t size);

/* `error KIND OFFSET` */
void print_error(dn_error kind, size_t offset);

/* Decodes the hex digits at `text` in place. Returns the number of bytes, or SIZE_MAX if they are not hex. */
size_t decode_hex(char *text);

/* ---- Requests ------------------------------------------------------------------------------------------------------------------ */

/* Each handles the rest of a request line, and prints the whole answer except the end of the line. */
void decode(const uint8_t *message, size_t size, bool strict);
void walk(const uint8_t *message, size_t size, bool strict);
void skip(const uint8_t *message, size_t size, bool strict);
void read_as(char *type, const uint8_t *message, size_t size);
void find(const char *key, size_t key_size, const uint8_t *message, size_t size);
void fill_struct(const uint8_t *message, size_t size, bool strict);
void encode(const char *value, bool single);
void buffers(const char *value);

/* ---- Values -------------------------------------------------------------------------------------------------------------------- */

/* Prints the current item, which must not be a container, key or end. */
void print_item(dn_reader *r);

/* Prints a number from the bits of its binary64. */
void print_double(uint64_t bits);
uint64_t bits_of_float(float value);
uint64_t bits_of_double(double value);

#endif
