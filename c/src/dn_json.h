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
 * Numbers of JSON become binary64 at least, also where double has 32 bits. c/docs/cycles.md says what conversions take on AVR.
 */
#ifndef DN_JSON_H
#define DN_JSON_H

#include "dn_decimal.h"
#include "dn_pson.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- PSON to JSON ------------------------------------------------------------------------------------------------------------ */

/* Reads the next item of `r` with all that it holds, and hands it to `take` as compact JSON text (UTF-8, no white space, no NUL), in chunks
 * of 1 to 32 bytes. `context` is given to `take`.
 *
 * Numbers that are integers from -2^63 to 2^64-1 are written as such, whatever form they have in the message. Others are written as the
 * shortest text that reads back as the same number of the same precision: 23.5, 1e-7, 1.5e+300, -0.0; a binary32 0.1 is 0.1. Whoever reads that
 * text as a binary64 has the binary64 0.1, which is another number than the binary32: 0.10000000149011612.
 * Text is escaped where JSON demands it: \" \\ \b \f \n \r \t, and \u001f and the like; everything else stands as it is. Entries keep their
 * order; a key that stands twice in a map is written twice: see dn_check. The length of the JSON text has no limit.
 *
 * False when it failed; `take` may have got a part of the text by then. Either `take` gave false, and r->error is DN_OK; or r->error is one of
 *     DN_WRONG_TYPE  at bytes, which JSON does not have; when no value is left here, or the reader stands before a key
 *     DN_RANGE       at NaN and infinities, which JSON does not have; at an integer below -2^63
 *     DN_TRUNCATED, DN_MALFORMED, DN_LIMIT  as dn_next gives them
 * Stack: about 350 bytes on AVR, of which a third is for the digits of a float; 130 when there is none. */
bool dn_json_write(dn_reader *r, dn_sink_fn take, void *context);

/* ---- JSON to PSON ------------------------------------------------------------------------------------------------------------ */

/* The longest JSON text, in bytes: 1 MiB, also where size_t has 16 bits. */
#define DN_JSON_MAX ((uint32_t)0x100000)

/* Turns JSON text into PSON. `error`, `offset` and `rounded` may be read at any time, the rest belongs to the library.
 * RAM: 2 * sizeof(size_t) * DN_NESTING bytes for the containers that are open, 118 to 334 bytes for a number (see DN_JSON_DIGITS in
 * dn_config.h), and about 45. */
typedef struct dn_json_reader {
    dn_writer *writer;
    uint32_t offset; /* bytes of the text that were read; after an error, the byte at fault */
    const uint8_t *piece; /* what dn_json_read was given; `offset` is that of its first byte until the call ends */
    const uint8_t *at; /* the current byte */
    uint32_t start; /* offset of the number or the character that is read */
    uint32_t size; /* bytes of PSON text so far */
    size_t text; /* for dn_write_close: where the text was opened */
    int32_t exponent; /* of the number, without its sign */
    uint16_t unit; /* UTF-16 unit that an escape spells; of a word, the index of its next letter */
    uint16_t lead; /* the unit before it, when that is the first half of a pair, else 0 */
    dn_error error;
    uint8_t state;
    uint8_t depth;
    uint8_t left; /* bytes that the escape, the character or the word still needs */
    uint8_t low, high; /* least and greatest value of a character's next byte */
    bool key; /* the text is a key */
    bool opened; /* of the text a part was written */
    bool whole; /* the number has neither a point nor an exponent */
    bool negative;
    bool negative_exponent;
    bool rounded; /* a decimal so far may have lost digits: see dn_json_read */
    struct {
        size_t opened; /* for dn_write_close */
        size_t count; /* entries or elements so far; the top bit is set in a map */
    } levels[DN_NESTING];
    dn__decimal number;
} dn_json_reader;

/* Starts to read a JSON text. What it holds is written to `w` as the next item; `w` may be anywhere in a message.
 * PSON says how much is in a map, an array or a text before it says what, so that with a sink the item has to fit the chunk. */
void dn_json_reader_init(dn_json_reader *j, dn_writer *w);

/* Reads on: `size` bytes, any number, cut anywhere. False after an error, which sticks. Nothing of `text` is needed afterwards.
 *
 * Whole numbers without point and exponent keep every digit: from -2^63 to 2^64-1 as integers, beyond that only when a binary64 is exactly
 * that number. Others become the nearest binary64 (ties to even), and then take the form that dn_write_double gives them, so that 1.0 and
 * 1e3 are integers; -0 is -0.0. Keys that stand twice are not seen: dn_check finds them in the result.
 *
 * j->rounded tells whether a decimal may have lost digits: one with more than 15 significant digits (zeros at the end count) or below 2.3e-308 that
 * no binary64 is exactly. While it is false, every number of the text is kept: the binary64, printed with as many digits, is the decimal. It is no
 * error, because such decimals are mostly a binary64 that was printed whole (0.30000000000000004), and to tell these from 9007199254740993.0 takes
 * as many cycles as to print the number. Who must not lose a digit refuses the text when j->rounded is true.
 *
 * j->error is one of, and j->offset counts from the start of the JSON text:
 *     DN_MALFORMED  not JSON, or no UTF-8, or a \u escape of half a surrogate pair: at the first byte that cannot be; at the first byte of
 *                   a character that is not UTF-8
 *     DN_RANGE      a number beyond binary64, or a whole one that neither 64 bits nor a binary64 hold: at its first byte
 *     DN_LIMIT      more than DN_NESTING maps and arrays inside one another: at the bracket; more than DN_JSON_MAX bytes: there; where
 *                   DN_JSON_DIGITS is less than 768, a number with more digits: at its first byte
 * An error of the writer does not end the reading: with a writer that only measures, or whose buffer is too small, dn_written tells the size
 * in the end. Stack: about 140 bytes on AVR. */
bool dn_json_read(dn_json_reader *j, const char *text, size_t size);

/* Ends the text. True when it was one JSON value, with nothing but white space around it, and was written without an error. Otherwise
 * j->error is set, to DN_TRUNCATED at the end of the text when that ends early; or it is DN_OK, and the writer's error is set. */
bool dn_json_finish(dn_json_reader *j);

#ifdef __cplusplus
}
#endif
#endif
