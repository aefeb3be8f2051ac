/* Splits requests into lines and words, and dispatches them. The protocol is described in conform/README.md of the project. */
#include "conform.h"

static char line[LINE_SIZE];

/* Reads a line without its end. Returns false at the end of the input. Sets `*complete` to whether the line fitted. */
static bool read_line(bool *complete)
{
    size_t size = 0;
    int c;
    *complete = true;
    while ((c = port_get()) != '\n') {
        if (c < 0) return false;
        if (size < LINE_SIZE - 1) line[size++] = (char)c;
        else *complete = false;
    }
    line[size] = 0;
    return true;
}

/* Terminates the word at `text`, and returns the text after it. */
static char *split_word(char *text)
{
    while (*text && *text != ' ') text++;
    if (*text) *text++ = 0;
    return text;
}

static void print_limits(void)
{
    PRINT("ok nesting ");
    print_unsigned(DN_NESTING);
    PRINT(" size ");
    print_unsigned(DN_MESSAGE_MAX);
    PRINT(" float ");
    print_unsigned(sizeof(double) * 8);
    PRINT(" line ");
    print_unsigned(LINE_SIZE - 1);
}

static void answer_message_request(const char *request, char *word, char *rest)
{
    size_t size = decode_hex(rest);
    const uint8_t *message = (const uint8_t *)rest;
    bool strict = SAME_TEXT(word, "strict");
    if (size == SIZE_MAX) PRINT("fault no hex");
    else if (SAME_TEXT(request, "read")) read_as(word, message, size);
    else if (SAME_TEXT(request, "find")) find(word, decode_hex(word), message, size);
    else if (SAME_TEXT(request, "decode")) decode(message, size, strict);
    else if (SAME_TEXT(request, "walk")) walk(message, size, strict);
    else if (SAME_TEXT(request, "skip")) skip(message, size, strict);
    else if (SAME_TEXT(request, "struct")) fill_struct(message, size, strict);
    else PRINT("skip");
}

static void answer(char *request)
{
    char *word = split_word(request);
    if (SAME_TEXT(request, "hello")) {
        print_limits();
    } else if (SAME_TEXT(request, "buffers")) {
        buffers(word);
    } else {
        char *rest = split_word(word);
        if (SAME_TEXT(request, "encode")) encode(rest, SAME_TEXT(word, "single"));
        else answer_message_request(request, word, rest);
    }
}

int main(void)
{
    bool complete;
    port_begin();
    while (read_line(&complete)) {
        if (complete && !line[0]) {
            port_flush();
            continue;
        }
        if (complete) answer(line);
        else PRINT("skip");
        port_put('\n');
    }
    port_end();
    return 0;
}
