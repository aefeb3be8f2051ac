/* How the measured code calls jsmn: it counts the tokens, splits the text into them, and walks them. The C library converts numbers. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "jsmn.h"
#include "measure.h"

#include <stdlib.h>

#define HEAP_SIZE ((MESSAGE_VALUES + MESSAGE_KEYS) * sizeof(jsmntok_t) + 16)
#include "heap.h"

/* jsmn does not encode, so no macros write. */
#ifdef WALK

/* A number ends at a character that is not part of one, so it can be converted in place. */
static void number(const char *text, size_t size) {
    if (memchr(text, '.', size) != NULL || memchr(text, 'e', size) != NULL || memchr(text, 'E', size) != NULL) {
        fold_double(strtod(text, NULL));
        return;
    }
#ifdef WIDE
#ifndef __AVR__
    if (*text == '-') fold_i64(strtoll(text, NULL, 10));
    else fold_u64(strtoull(text, NULL, 10));
#endif
#else
    if (*text == '-') fold_i32((int32_t)strtol(text, NULL, 10));
    else fold_u32((uint32_t)strtoul(text, NULL, 10));
#endif
}

static const jsmntok_t *walk_item(const char *text, const jsmntok_t *token) {
    const char *start = text + token->start;
    size_t size = (size_t)(token->end - token->start);
    int count = token->size;
    switch (token->type) {
    case JSMN_OBJECT:
        fold_map((uint32_t)count);
        token++;
        while (count--) {
            fold_key(text + token->start, (size_t)(token->end - token->start));
            token = walk_item(text, token + 1);
        }
        return token;
    case JSMN_ARRAY:
        fold_array((uint32_t)count);
        token++;
        while (count--) token = walk_item(text, token);
        return token;
    case JSMN_STRING: fold_text(start, size); break;
    default:
        if (*start == 'n') fold_null();
        else if (*start == 't' || *start == 'f') fold_bool(*start == 't');
        else number(start, size);
    }
    return token + 1;
}

static __attribute__((noinline)) bool walk(const uint8_t *message, size_t size) {
    const char *text = (const char *)message;
    jsmn_parser parser;
    heap_reset();
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, text, size, NULL, 0);
    if (count <= 0) return false;
    jsmntok_t *tokens = heap_take((size_t)count * sizeof *tokens);
    if (tokens == NULL) return false;
    jsmn_init(&parser);
    if (jsmn_parse(&parser, text, size, tokens, (unsigned)count) != count) return false;
    walk_item(text, tokens);
    return true;
}
#endif

#endif
