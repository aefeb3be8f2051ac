/* Converts JSON text to PSON: a state machine that receives one byte at a time, with a stack of its own for the open containers. */
#include "dn_json_internal.h"

/* The parts of `count` of a level. */
#define COUNT (DN__SIZE_MAX >> 1)
#define IN_MAP (DN__SIZE_MAX - COUNT)

/* The letters of true, false and null after the first. */
static const char words[] DN_FLASH = "ruealseull";
enum { TRUE_REST = 0, FALSE_REST = 3, NULL_REST = 7, WORDS_END = 10 };

static char read_word_char(uint16_t index)
{
#if defined(__AVR__)
    return (char)pgm_read_byte(words + index);
#else
    return words[index];
#endif
}

void dn__json_fail(dn_json_reader *j, dn_error kind, uint32_t offset)
{
    if (j->error) return;
    j->error = kind;
    j->offset = offset;
}

void dn__json_malformed(dn_json_reader *j) { dn__json_fail(j, DN_MALFORMED, dn__json_offset(j)); }

void dn_json_reader_init(dn_json_reader *j, dn_writer *w)
{
    j->writer = w;
    j->offset = 0;
    j->piece = j->at = NULL;
    j->error = DN_OK;
    j->state = VALUE;
    j->depth = 0;
    j->rounded = false;
}

void dn__json_end_value(dn_json_reader *j)
{
    j->state = NEXT;
    /* The count may overflow where size_t has 16 bits, though not in a message of DN_MESSAGE_MAX. */
    if (j->depth && !(++j->levels[j->depth - 1].count & COUNT)) dn__json_fail(j, DN_LIMIT, dn__json_offset(j));
}

static void begin_container(dn_json_reader *j, bool map)
{
    if (j->depth == DN_NESTING) {
        dn__json_fail(j, DN_LIMIT, dn__json_offset(j));
        return;
    }
    j->levels[j->depth].opened = map ? dn_write_map_open(j->writer) : dn_write_array_open(j->writer);
    j->levels[j->depth].count = map ? IN_MAP : 0;
    j->depth++;
    j->state = map ? FIRST_KEY : FIRST_ELEMENT;
}

static void end_container(dn_json_reader *j)
{
    j->depth--;
    dn_write_close(j->writer, j->levels[j->depth].opened, (uint32_t)(j->levels[j->depth].count & COUNT));
    dn__json_end_value(j);
}

/* ---- Text ---------------------------------------------------------------------------------------------------------------------- */

/* Writes a part of a text whose size is not known yet. */
static void append_text(dn_json_reader *j, const uint8_t *bytes, size_t size)
{
    if (!j->opened) {
        j->text = dn__open(j->writer, DN__HEAD_TEXT);
        j->size = 0;
        j->opened = true;
    }
    j->size += (uint32_t)size;
    while (size) {
        uint8_t piece = 255;
        if (size < piece) piece = (uint8_t)size;
        dn__append(j->writer, bytes, piece);
        bytes += piece;
        size -= piece;
    }
}

static void begin_text(dn_json_reader *j, bool key)
{
    j->opened = false;
    j->left = 0;
    j->lead = 0;
    j->key = key;
    j->state = TEXT;
}

static void end_text(dn_json_reader *j)
{
    if (j->key) j->state = COLON;
    else dn__json_end_value(j);
}

/* Checks a byte of a character outside of ASCII. Returns false if it is not UTF-8; see dn_is_utf8 for the ranges. */
static bool check_utf8_byte(dn_json_reader *j, uint8_t c)
{
    if (!j->left) {
        j->start = dn__json_offset(j);
        if (c < 0xc2 || c > 0xf4) return false;
        j->left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        j->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        j->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        return true;
    }
    if (c < j->low || c > j->high) return false;
    j->left--;
    j->low = 0x80;
    j->high = 0xbf;
    return true;
}

/* Reads characters that are not escaped, and a quotation mark after them. */
static void read_plain_text(dn_json_reader *j, const uint8_t *end)
{
    const uint8_t *start = j->at;
    const uint8_t *at = start;
    if (!j->left)
        while (at != end && (uint8_t)(*at - 0x20) < 0x60 && *at != '"' && *at != '\\') at++;
    for (; at != end; at++) {
        uint8_t c = *at;
        if (c >= 0x80 || j->left) {
            j->at = at;
            if (!check_utf8_byte(j, c)) {
                append_text(j, start, (size_t)(at - start));
                dn__json_fail(j, DN_MALFORMED, j->start);
                return;
            }
        } else if (c == '"' || c == '\\' || c < 0x20) {
            break;
        }
    }
    size_t n = (size_t)(at - start);
    j->at = at;
    if (at == end || *at != '"') {
        append_text(j, start, n);
        if (at == end) return;
        if (*at < 0x20) dn__json_malformed(j);
        else j->state = ESCAPE;
    } else {
        /* Most texts arrive in one piece and without escapes. */
        if (j->opened) {
            append_text(j, start, n);
            dn_write_close(j->writer, j->text, j->size);
        } else {
            dn_write_text(j->writer, (const char *)start, n);
        }
        end_text(j);
    }
    if (!j->error) j->at++;
}

/* Writes the character `unit` up to U+FFFF, or the one that the surrogates `lead` and `unit` encode. */
static void write_escaped_unit(dn_json_reader *j)
{
    uint8_t utf8[4];
    uint8_t size = 0;
    uint16_t unit = j->unit;
    bool second = unit >= 0xdc00 && unit <= 0xdfff;
    if (second != (j->lead != 0)) {
        dn__json_malformed(j);
        return;
    }
    j->state = TEXT;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        j->lead = unit;
        j->state = PAIR;
        return;
    }
    if (second) {
        uint16_t lead = (uint16_t)(j->lead - 0xd800 + 0x40); /* the bits of the character from bit 10 on */
        utf8[size++] = (uint8_t)(0xf0 | lead >> 8);
        utf8[size++] = (uint8_t)(0x80 | (lead >> 2 & 0x3f));
        utf8[size++] = (uint8_t)(0x80 | (lead & 3) << 4 | (unit >> 6 & 0x0f));
        j->lead = 0;
    } else if (unit >= 0x800) {
        utf8[size++] = (uint8_t)(0xe0 | unit >> 12);
        utf8[size++] = (uint8_t)(0x80 | (unit >> 6 & 0x3f));
    } else if (unit >= 0x80) {
        utf8[size++] = (uint8_t)(0xc0 | unit >> 6);
    }
    utf8[size] = (uint8_t)(size ? 0x80 | (unit & 0x3f) : unit);
    append_text(j, utf8, (size_t)size + 1);
}

static void read_hex_digit(dn_json_reader *j, uint8_t c)
{
    uint8_t lower = c | 0x20;
    if (dn__is_digit(c)) c = (uint8_t)(c - '0');
    else if (lower >= 'a' && lower <= 'f') c = (uint8_t)(lower - 'a' + 10);
    else {
        dn__json_malformed(j);
        return;
    }
    j->unit = (uint16_t)(j->unit << 4 | c);
    if (--j->left == 0) write_escaped_unit(j);
}

static void read_escape(dn_json_reader *j, uint8_t c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/': break;
    case 'b': c = '\b'; break;
    case 'f': c = '\f'; break;
    case 'n': c = '\n'; break;
    case 'r': c = '\r'; break;
    case 't': c = '\t'; break;
    case 'u':
        j->unit = 0;
        j->left = 4;
        j->state = HEX;
        return;
    default: dn__json_malformed(j); return;
    }
    append_text(j, &c, 1);
    j->state = TEXT;
}

/* ---- Structure ----------------------------------------------------------------------------------------------------------------- */

static void begin_word(dn_json_reader *j, uint8_t rest, uint8_t left)
{
    j->unit = rest;
    j->left = left;
    j->state = WORD;
}

static void read_word_byte(dn_json_reader *j, uint8_t c)
{
    if (c != (uint8_t)read_word_char(j->unit)) {
        dn__json_malformed(j);
        return;
    }
    j->unit++;
    if (--j->left) return;
    if (j->unit == WORDS_END) dn_write_null(j->writer);
    else dn_write_bool(j->writer, j->unit == FALSE_REST); /* the letters of true end at FALSE_REST */
    dn__json_end_value(j);
}

static void begin_value(dn_json_reader *j, uint8_t c)
{
    switch (c) {
    case '"': begin_text(j, false); break;
    case '{': begin_container(j, true); break;
    case '[': begin_container(j, false); break;
    case 't': begin_word(j, TRUE_REST, 3); break;
    case 'f': begin_word(j, FALSE_REST, 4); break;
    case 'n': begin_word(j, NULL_REST, 3); break;
    default:
        dn__json_begin_number(j, c);
    }
}

/* Processes a byte between texts, words and numbers. */
static void read_structure(dn_json_reader *j, uint8_t c)
{
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return;
    bool inside, map;
    switch (j->state) {
    case FIRST_KEY:
    case KEY:
        if (c == '"') begin_text(j, true);
        else if (c == '}' && j->state == FIRST_KEY) end_container(j);
        else dn__json_malformed(j);
        break;
    case COLON:
        if (c == ':') j->state = VALUE;
        else dn__json_malformed(j);
        break;
    case NEXT:
        inside = j->depth != 0;
        map = inside && j->levels[j->depth - 1].count & IN_MAP;
        if (inside && c == ',') j->state = map ? KEY : VALUE;
        else if (inside && c == (map ? '}' : ']')) end_container(j);
        else dn__json_malformed(j);
        break;
    default:
        if (c == ']' && j->state == FIRST_ELEMENT) end_container(j);
        else begin_value(j, c);
    }
}

static void read_byte(dn_json_reader *j, uint8_t c)
{
    switch (j->state) {
    case ESCAPE: read_escape(j, c); break;
    case HEX: read_hex_digit(j, c); break;
    case PAIR:
        if (c == '\\') j->state = PAIR_U;
        else dn__json_malformed(j);
        break;
    case PAIR_U:
        if (c == 'u') read_escape(j, c);
        else dn__json_malformed(j);
        break;
    case WORD: read_word_byte(j, c); break;
    default:
        if (j->state >= MINUS) {
            if (dn__json_read_number(j, c)) break;
            dn__json_end_number(j);
            if (j->error) break;
        }
        read_structure(j, c);
    }
}

bool dn_json_read(dn_json_reader *j, const char *text, size_t size)
{
    if (j->error) return false;
    uint32_t left = DN_JSON_MAX - j->offset;
    bool too_long = size > left;
    j->piece = j->at = (const uint8_t *)text;
    const uint8_t *end = (const uint8_t *)((uintptr_t)text + (too_long ? (size_t)left : size)); /* as a number, because `text` may be NULL */
    while (j->at != end) {
        uint8_t state = j->state;
        if (state == TEXT) {
            read_plain_text(j, end);
        } else {
            read_byte(j, *j->at);
            if (j->error) return false;
            /* All digits of a number, including the first, are read in one call. */
            state = j->state;
            if (state == DIGITS || state == FRACTION) j->at = dn__decimal_digits(&j->number, j->at, end, state == FRACTION);
            else j->at++;
        }
        if (j->error) return false;
    }
    j->offset = dn__json_offset(j);
    j->piece = j->at;
    if (too_long) dn__json_fail(j, DN_LIMIT, DN_JSON_MAX);
    return !j->error;
}

bool dn_json_finish(dn_json_reader *j)
{
    if (j->error) return false;
    /* Inside a map or an array the text is incomplete, and the number might continue. */
    if (j->state >= ZERO && !j->depth) dn__json_end_number(j);
    if (j->state != NEXT || j->depth) dn__json_fail(j, DN_TRUNCATED, j->offset);
    return !j->error && !j->writer->error;
}
