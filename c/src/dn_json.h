/* PSON to JSON text and JSON text (RFC 8259) to PSON, both in pieces of any size, without heap and without recursion.
 *
 *     dn_reader r;
 *     dn_reader_init(&r, message, size);
 *     if (!dn_json_write(&r, print, NULL) || !dn_done(&r)) return error(r.error, dn_error_offset(&r));
 *
 *     dn_writer w;
 *     dn_json_reader j;
 *     dn_writer_init(&w, buffer, sizeof buffer);
 *     dn_json_reader_init(&j, &w);
 *     while ((size = receive(piece, sizeof piece)) > 0) dn_json_read(&j, piece, size);
 *     if (dn_json_finish(&j)) radio_send(buffer, dn_written(&w));
 *
 * Numbers in JSON have at least the precision of binary64, also where double has 32 bits. c/docs/cycles.md lists the cycles of conversions
 * on AVR.
 */
#ifndef DN_JSON_H
#define DN_JSON_H

#include "dn_decimal.h"
#include "dn_pson.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- PSON to JSON ------------------------------------------------------------------------------------------------------------ */

/* Reads the next item of `r` and everything in it, and passes it to `take` as compact JSON text (UTF-8, no white space, no NUL), in
 * chunks of 1 to 32 bytes. `context` is passed to `take`.
 *
 * Integers from -2^63 to 2^64-1 are written as integers, whatever their form in the message. Other numbers are written as the shortest
 * text that reads back as the same number of the same precision: 23.5, 1e-7, 1.5e+300, -0.0; a binary32 0.1 is 0.1. A receiver that
 * reads this text as a binary64 gets the binary64 0.1, which differs from the binary32 0.10000000149011612. Text is escaped only where
 * JSON requires it: \" \\ \b \f \n \r \t, and \u001f and the like. Entries keep their order, and duplicate keys are written twice: see
 * dn_check. The length of the JSON text has no limit.
 *
 * Returns false on failure, when `take` may already have received a part of the text. Either `take` returned false, and r->error is
 * DN_OK; or r->error is one of
 *     DN_WRONG_TYPE  for bytes, which JSON does not have; when no value is left, or a key is next
 *     DN_RANGE       for NaN and infinities, which JSON does not have; for an integer below -2^63
 *     DN_TRUNCATED, DN_MALFORMED, DN_LIMIT  as for dn_next
 * Stack: about 350 bytes on AVR, a third of them for the digits of a float; 130 when there is none. */
bool dn_json_write(dn_reader *r, dn_sink_fn take, void *context);

/* ---- JSON to PSON ------------------------------------------------------------------------------------------------------------ */

/* The size limit of a JSON text in bytes: 1 MiB, also where size_t has 16 bits. */
#define DN_JSON_MAX ((uint32_t)0x100000)

/* Converts JSON text to PSON. You may read `error`, `offset` and `rounded` at any time; the other members are private to the library.
 * RAM: 2 * sizeof(size_t) * DN_NESTING bytes for the open containers, 118 to 334 bytes for a number (see DN_JSON_DIGITS in dn_config.h),
 * and about 45 bytes. */
typedef struct dn_json_reader {
    dn_writer *writer;
    uint32_t offset; /* bytes of the text read so far; after an error, the offset of the byte at fault */
    const uint8_t *piece; /* the text passed to dn_json_read; until the call ends, `offset` is that of its first byte */
    const uint8_t *at; /* the current byte */
    uint32_t start; /* offset of the current number or character */
    uint32_t size; /* bytes of the current PSON text so far */
    size_t text; /* for dn_write_close: the position of the open text */
    int32_t exponent; /* of the number, without its sign */
    uint16_t unit; /* UTF-16 unit of the current escape; for a word, the index of its next letter */
    uint16_t lead; /* the previous unit, if it is the first half of a pair, else 0 */
    dn_error error;
    uint8_t state;
    uint8_t depth;
    uint8_t left; /* bytes that the escape, the character or the word still needs */
    uint8_t low, high; /* least and greatest value of a character's next byte */
    bool key; /* the text is a key */
    bool opened; /* a part of the text has been written */
    bool whole; /* the number has neither a point nor an exponent */
    bool negative;
    bool negative_exponent;
    bool rounded; /* some decimal may have lost digits: see dn_json_read */
    struct {
        size_t opened; /* for dn_write_close */
        size_t count; /* entries or elements so far; the top bit is set in a map */
    } levels[DN_NESTING];
    dn__decimal number;
} dn_json_reader;

/* Starts to read a JSON text. Its value is written to `w` as the next item; `w` may be anywhere in a message. PSON writes the size of a
 * map, an array or a text before its content, so that with a sink the item must fit the chunk. */
void dn_json_reader_init(dn_json_reader *j, dn_writer *w);

/* Reads the next `size` bytes of the text, which may be split anywhere. Returns false after an error, which sticks. `text` is not needed
 * after the call.
 *
 * Whole numbers without point and exponent keep every digit: from -2^63 to 2^64-1 as integers, beyond that only when a binary64 holds
 * them exactly. Other numbers become the nearest binary64 (ties to even), and are then written as dn_write_double writes them, so that
 * 1.0 and 1e3 are integers; -0 is -0.0. Duplicate keys are not detected; dn_check finds them in the result.
 *
 * j->rounded tells whether a decimal may have lost digits: one that no binary64 holds exactly, with more than 15 significant digits
 * (including zeros at the end) or below 2.3e-308. While it is false, every number of the text is kept: the binary64, printed with as
 * many digits, is the decimal. It is not an error, because most such decimals are a binary64 printed in full (0.30000000000000004);
 * distinguishing these from 9007199254740993.0 costs as many cycles as printing the number. An application that must not lose a digit
 * has to reject the text when j->rounded is true.
 *
 * j->offset counts from the start of the JSON text. j->error is one of
 *     DN_MALFORMED  not JSON, not UTF-8, or a \u escape of half a surrogate pair: at the first byte that is not allowed, or at the first
 *                   byte of a character that is not UTF-8
 *     DN_RANGE      a number beyond binary64, or a whole number that neither 64 bits nor a binary64 hold: at its first byte
 *     DN_LIMIT      more than DN_NESTING nested maps and arrays: at the bracket; more than DN_JSON_MAX bytes: at that offset; if
 *                   DN_JSON_DIGITS is less than 768, a number with more digits: at its first byte
 * An error of the writer does not stop the reader: with a writer that only counts, or whose buffer is too small, dn_written returns the
 * size in the end. Stack: about 140 bytes on AVR. */
bool dn_json_read(dn_json_reader *j, const char *text, size_t size);

/* Ends the text. Returns true if it was one JSON value, surrounded only by white space, and was written without an error. Otherwise
 * returns false and j->error is set, to DN_TRUNCATED at the end of the text if that ends early; or j->error is DN_OK, and the writer's
 * error is set. */
bool dn_json_finish(dn_json_reader *j);

#ifdef __cplusplus
}
#endif
#endif
