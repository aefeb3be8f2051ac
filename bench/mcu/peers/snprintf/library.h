/* JSON text by the C library's snprintf, as firmware without a JSON library writes it. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "measure.h"

#include <stdio.h>

/* It needs no heap of its own. */
#define HEAP_SIZE 1
#include "heap.h"

/* ---- Encode ---- */
/* A comma follows every value; the end of a map or an array replaces the last one. */
typedef struct {
    char *start, *at, *end;
} text;

#define PUT(...) put(&t, snprintf(t.at, (size_t)(t.end - t.at), __VA_ARGS__))

static inline __attribute__((unused)) void put(text *t, int length) {
    if (length < 0 || length >= t->end - t->at) length = (int)(t->end - t->at);
    t->at += length;
}

static __attribute__((unused)) void begin(text *t, char bracket) {
    if (t->at < t->end) *t->at++ = bracket;
}

static __attribute__((unused)) void end(text *t, char bracket) {
    if (t->at > t->start && t->at[-1] == ',') t->at--;
    begin(t, bracket);
    begin(t, ',');
}

static __attribute__((unused)) size_t finish(const text *t) { return t->at == t->end ? 0 : (size_t)(t->at - t->start) - 1; }

#define WRITER(buffer, size) text t = {(char *)(buffer), (char *)(buffer), (char *)(buffer) + (size)}
#define WRITTEN() finish(&t)
#define WRITE_MAP(entries) begin(&t, '{')
#define WRITE_ARRAY(elements) begin(&t, '[')
#define END_MAP() end(&t, '}')
#define END_ARRAY() end(&t, ']')
#define WRITE_KEY(literal) PUT("\"%s\":", literal)
#define WRITE_TEXT(text) PUT("\"%s\",", text)
#define WRITE_U32(value) PUT("%lu,", (unsigned long)(value))
#define WRITE_I32(value) PUT("%ld,", (long)(value))
#define WRITE_U64(value) PUT("%llu,", (unsigned long long)(value))
#define WRITE_I64(value) PUT("%lld,", (long long)(value))
#define WRITE_FLOAT(value) PUT("%.7g,", (double)(value))
#define WRITE_DOUBLE(value) PUT("%.15g,", value)
#define WRITE_BOOL(value) PUT("%s,", (value) ? "true" : "false")
#define WRITE_NULL() PUT("null,")

#endif
