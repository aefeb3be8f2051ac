/* JSON on an AVR: converts each text to a message and back to the same text. The numbers cover the fast and the slow paths; part_run.c
 * limits the cycles of all of them together. */
#include <avr/interrupt.h>
#include <avr/io.h>

#include <dn_json.h>

static const char texts[] PROGMEM =
    "0\0" "-1\0" "4294967296\0" "18446744073709551615\0" "-9223372036854775808\0"
    "0.1\0" "1.03\0" "48.75\0" "-0.0\0" "2.3\0" "123456.789012345\0" "1e-7\0" "1.5e+300\0"
    "1e-300\0" "5e-324\0" "1.7976931348623157e+308\0" "2.2250738585072014e-308\0" "8.41e+21\0"
    "{\"a\":[true,false,null,{}],\"\\u0001\\n\":\"\xc3\xa9\"}\0";

/* Each is a binary32 whose binary64 needs many digits, and its text. */
static const char singles[] PROGMEM = "\xcd\xcc\xcc\x3d" "0.1\0" "\x85\xeb\x81\x41" "16.24\0" "\x01\0\0\0" "1e-45\0" "\xff\xff\x7f\x7f" "3.4028235e+38\0";

static uint8_t message[64];
static char text[64];
static size_t size;
static uint8_t failures;

static bool collect(void *context, const uint8_t *bytes, size_t count)
{
    (void)context;
    if (size + count > sizeof text) return false;
    memcpy(text + size, bytes, count);
    size += count;
    return true;
}

static void check_print(size_t message_size, const char *expected)
{
    dn_reader r;
    dn_reader_init(&r, message, message_size);
    size = 0;
    bool printed = dn_json_write(&r, collect, NULL) && dn_done(&r);
    if (!printed || size != strlen_P(expected) || memcmp_P(text, expected, size) != 0) failures++;
}

int main(void)
{
    for (const char *at = texts; pgm_read_byte(at); at += strlen_P(at) + 1) {
        dn_writer w;
        dn_json_reader j;
        strcpy_P(text, at);
        dn_writer_init(&w, message, sizeof message);
        dn_json_reader_init(&j, &w);
        dn_json_read(&j, text, strlen(text));
        if (!dn_json_finish(&j)) failures++;
        check_print(dn_written(&w), at);
    }
    for (const char *at = singles; at + 4 < singles + sizeof singles; at += strlen_P(at) + 1) {
        message[0] = 0x40;
        memcpy_P(message + 1, at, 4);
        at += 4;
        check_print(5, at);
    }
    cli();
    register uint8_t result __asm__("r24") = failures;
    MCUCR |= _BV(SE);
    __asm__ volatile("sleep" : : "r"(result));
    for (;;) {}
}
