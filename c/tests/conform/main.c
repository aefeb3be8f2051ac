/* Splits requests into lines and words, and dispatches them. The protocol is described in conform/README.md of the project. */
#include "conform.h"

static char line[LINE_SIZE];

/* Reads a line without its end. Returns false at the end of the input. Sets `*whole` to whether the line fitted. */
static bool read_line(bool *whole)
{
    size_t size = 0;
    int c;
    *whole = true;
    while ((c = port_get()) != '\n') {
        if (c < 0) return false;
        if (size < LINE_SIZE - 1) line[size++] = (char)c;
        else *whole = false;
    }
    line[size] = 0;
    return true;
}

/* Terminates the word at `text`, and returns the text after it. */
static char *cut(char *text)
{
    while (*text && *text != ' ') text++;
    if (*text) *text++ = 0;
    return text;
}

static void hello(void)
{
    SAY("ok nesting ");
    say_unsigned(DN_NESTING);
    SAY(" size ");
    say_unsigned(DN_MESSAGE_MAX);
    SAY(" float ");
    say_unsigned(sizeof(double) * 8);
    SAY(" line ");
    say_unsigned(LINE_SIZE - 1);
}

static void answer_about(const char *request, char *word, char *rest)
{
    size_t size = unhex(rest);
    const uint8_t *message = (const uint8_t *)rest;
    bool strict = SAME_TEXT(word, "strict");
    if (size == SIZE_MAX) SAY("fault no hex");
    else if (SAME_TEXT(request, "read")) read_as(word, message, size);
    else if (SAME_TEXT(request, "find")) find(word, unhex(word), message, size);
    else if (SAME_TEXT(request, "decode")) decode(message, size, strict);
    else if (SAME_TEXT(request, "walk")) walk(message, size, strict);
    else if (SAME_TEXT(request, "skip")) skip(message, size, strict);
    else if (SAME_TEXT(request, "struct")) fill_struct(message, size, strict);
    else SAY("skip");
}

static void answer(char *request)
{
    char *word = cut(request);
    if (SAME_TEXT(request, "hello")) {
        hello();
    } else if (SAME_TEXT(request, "buffers")) {
        buffers(word);
    } else {
        char *rest = cut(word);
        if (SAME_TEXT(request, "encode")) encode(rest, SAME_TEXT(word, "single"));
        else answer_about(request, word, rest);
    }
}

int main(void)
{
    bool whole;
    port_begin();
    while (read_line(&whole)) {
        if (whole && !line[0]) {
            port_flush();
            continue;
        }
        if (whole) answer(line);
        else SAY("skip");
        port_put('\n');
    }
    port_end();
    return 0;
}
