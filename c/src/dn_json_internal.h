/* Shared by the files of the JSON reader; not part of the public API. */
#ifndef DN_JSON_INTERNAL_H
#define DN_JSON_INTERNAL_H

#include "dn_internal.h"
#include "dn_json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The states: the next token that the reader expects. */
enum {
    VALUE,
    FIRST_ELEMENT, /* or ']' */
    FIRST_KEY, /* or '}' */
    KEY,
    COLON,
    NEXT, /* a comma or the container's end; outside of all containers only white space */
    TEXT,
    ESCAPE,
    HEX,
    PAIR, /* the backslash before the second half of a surrogate pair */
    PAIR_U,
    WORD,
    MINUS,
    FRACTION_START,
    EXPONENT_START,
    EXPONENT_DIGIT,
    /* From here on the number may end. */
    ZERO,
    DIGITS,
    FRACTION,
    EXPONENT
};

static inline bool dn__is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* Returns the offset of the current byte. It is not counted byte by byte, because AVR takes 24 cycles to add to 32 bits in
 * memory. */
static inline uint32_t dn__json_offset(const dn_json_reader *j) { return j->offset + (uint32_t)((uintptr_t)j->at - (uintptr_t)j->piece); }

/* Ends the text with an error at `offset`; an earlier error is kept. */
void dn__json_fail(dn_json_reader *j, dn_error kind, uint32_t offset);

/* Ends the text with DN_MALFORMED at the current byte. */
void dn__json_malformed(dn_json_reader *j);

/* Counts a complete value, and expects the tokens that may follow it. */
void dn__json_end_value(dn_json_reader *j);

/* ---- Numbers ------------------------------------------------------------------------------------------------------------------- */

/* Begins a number with its first byte. */
void dn__json_begin_number(dn_json_reader *j, uint8_t c);

/* Processes a byte of a number. Returns false if the byte is not part of it. */
bool dn__json_read_number(dn_json_reader *j, uint8_t c);

/* Writes the number, which is complete. */
void dn__json_end_number(dn_json_reader *j);

#ifdef __cplusplus
}
#endif
#endif
