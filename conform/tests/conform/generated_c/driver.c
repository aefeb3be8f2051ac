#include "FILE.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

static const char *word(void)
{
    const char *next = strtok(NULL, " ");
    return next ? next : "";
}

static size_t unhex(const char *hex, uint8_t *bytes)
{
    size_t size = 0;
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) bytes[size++] = (uint8_t)byte;
    return size;
}

static inline void show_signed(int64_t n) { printf(" %lld", (long long)n); }

static inline void show_unsigned(uint64_t n) { printf(" %llu", (unsigned long long)n); }

static inline void show_text(const char *text)
{
    printf(" x");
    for (; *text; text++) printf("%02x", (unsigned)(uint8_t)*text);
}

static inline void take_text(char *text) { text[unhex(word() + 1, (uint8_t *)text)] = 0; }

static inline void show_float(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    printf(" %016llx", (unsigned long long)bits);
}

static inline double take_float(void)
{
    uint64_t bits = strtoull(word(), NULL, 16);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void take(NAME *m)
{
    (void)m;
TAKE
}

static void show(const NAME *m)
{
    (void)m;
SHOW
    putchar('\n');
}

int main(void)
{
    static const char *const kinds[] = {"ok", "truncated", "malformed", "range"};
    static const NAME initial = PREFIX_INIT;
    static NAME message;
    dunnage_fault fault;
    while (fgets(line, sizeof line, stdin)) {
        /* In memory of exactly its size, so that a step beyond it is seen. */
        size_t size;
        uint8_t *bytes;
        line[strcspn(line, "\n")] = 0;
        strtok(line, " ");
        memset(&message, 0x55, sizeof message);
        if (line[0] != 'd') {
            if (line[0] == 'i') message = initial;
            else take(&message);
            bytes = malloc(PREFIX_MAX_SIZE);
            size = NAME_encode(&message, bytes, PREFIX_MAX_SIZE, &fault);
            for (size_t i = 0; i < size; i++) printf("%02x", (unsigned)bytes[i]);
            printf(size ? "\n" : "error %s\n", kinds[fault.kind]);
        } else {
            const char *hex = word();
            bytes = malloc(strlen(hex) / 2 + 1);
            size = unhex(hex, bytes);
            bytes = realloc(bytes, size ? size : 1);
            if (NAME_decode(&message, bytes, size, &fault)) show(&message);
            else printf("error %s\n", kinds[fault.kind]);
        }
        free(bytes);
    }
    return 0;
}
