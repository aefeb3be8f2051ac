/* Answers requests about modes 1 and 2 of one message, a line with a line. HEADER is the generated header, NAME the struct.
 *
 *     send HEX       the bytes of NAME_send for the message with these plain bytes
 *     prior HEX      those of NAME_encode_prior
 *     acked NUMBER   whether NAME_acked had news
 *     last           whether NAME_acked_last had
 *     forget         -
 *     fill NUMBER    sets every byte of the state
 *     flip NUMBER    inverts a bit of the state
 */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE(a, b) a##b
#define OF(name, ending) PASTE(name, ending)

static uint8_t bytes[1 << 12];
static char line[1 << 14];
static OF(NAME, _state) state;

static size_t parse(const char *hex)
{
    size_t size = 0;
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) bytes[size++] = (uint8_t)byte;
    return size;
}

/* Writes the message into memory of exactly its largest size, so that a sanitizer sees one byte too many. */
static void encode(const char *hex, bool is_send)
{
    NAME message;
    uint8_t *room = (uint8_t *)malloc(MOST);
    size_t size = parse(hex), i;
    dunnage_fault fault;
    memset(&message, 0, sizeof message);
    if (!OF(NAME, _decode)(&message, bytes, size, &fault)) {
        printf("fault %d", fault.kind);
    } else {
        size = is_send ? OF(NAME, _send)(&state, &message, room) : OF(NAME, _encode_prior)(&message, room);
        for (i = 0; i < size; i++) printf("%02x", room[i]);
    }
    free(room);
}

int main(void)
{
    while (fgets(line, sizeof line, stdin)) {
        char word[16], text[1 << 13];
        unsigned long number;
        text[0] = 0;
        if (sscanf(line, "%15s %8191s", word, text) < 1) return 1;
        number = strtoul(text, NULL, 10);
        if (!strcmp(word, "send") || !strcmp(word, "prior")) encode(text, *word == 's');
        else if (!strcmp(word, "acked")) printf("%d", OF(NAME, _acked)(&state, (uint16_t)number));
        else if (!strcmp(word, "last")) printf("%d", OF(NAME, _acked_last)(&state));
        else if (!strcmp(word, "forget")) OF(NAME, _forget)(&state);
        else if (!strcmp(word, "fill")) memset(&state, (int)number, sizeof state);
        else if (!strcmp(word, "flip")) state.bytes[number / 8 % sizeof state] ^= (uint8_t)(1 << number % 8);
        else return 1;
        putchar('\n');
    }
    return 0;
}
