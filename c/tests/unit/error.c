/* The names of spec/pson.md, and a text for every kind. */
#include "dn_pson.h"

#include "test.h"

/* Copies text that may be in flash. */
static const char *text(dn_flash_text from)
{
    static char to[64];
#if defined(__AVR__)
    strncpy_P(to, (const char *)from, sizeof to - 1);
#else
    strncpy(to, from, sizeof to - 1);
#endif
    return to;
}

static void names(void)
{
    CHECK_STR(text(dn_error_name(DN_OK)), "ok");
    CHECK_STR(text(dn_error_name(DN_TRUNCATED)), "truncated");
    CHECK_STR(text(dn_error_name(DN_MALFORMED)), "malformed");
    CHECK_STR(text(dn_error_name(DN_WRONG_TYPE)), "type");
    CHECK_STR(text(dn_error_name(DN_RANGE)), "range");
    CHECK_STR(text(dn_error_name(DN_LIMIT)), "limit");
    CHECK_STR(text(dn_error_name(DN_LIMIT + 1)), "unknown");
    CHECK_STR(text(dn_error_name(255)), "unknown");
}

static void texts(void)
{
    CHECK_STR(text(dn_error_text(DN_OK)), "no error");
    CHECK_STR(text(dn_error_text(255)), "unknown error");
    for (dn_error kind = DN_OK; kind <= DN_LIMIT; kind++) {
        char one[64];
        strcpy(one, text(dn_error_text(kind)));
        CHECK(strlen(one) > 0);
        for (dn_error other = (dn_error)(kind + 1); other <= DN_LIMIT + 1; other++) CHECK(strcmp(one, text(dn_error_text(other))) != 0);
    }
}

int main(void)
{
    TEST(names);
    TEST(texts);
    return test_end("error");
}
