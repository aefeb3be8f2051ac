/* Unit tests in plain C, on the host and on a microcontroller. Compiles as C99 and as C++11.
 *
 *     static void writes_null(void)
 *     {
 *         ...
 *         CHECK_EQ(dn_written(&w), 1);
 *         CHECK_BYTES(buffer, dn_written(&w), "\x62");
 *     }
 *     int main(void)
 *     {
 *         TEST(writes_null);
 *         return test_end("write");
 *     }
 *
 * prints `write: 2 checks, 0 failed`. A failed check prints its line and values, and the test continues. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__AVR__)
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#define TEST_LITERAL(literal) PSTR(literal) /* keeps texts out of RAM, which is scarce */
#define TEST_PRINT(format, ...) printf_P(PSTR(format), __VA_ARGS__)
#define TEST_TEXT "%S" /* in flash */
#else
#define TEST_LITERAL(literal) literal
#define TEST_PRINT(format, ...) printf(format, __VA_ARGS__)
#define TEST_TEXT "%s"
#endif

static unsigned test_checks, test_failures;
static const char *test_name = ""; /* of the current test */

#if defined(__AVR__)
static int test_put(char c, FILE *stream)
{
    (void)stream;
    while (!(UCSR0A & _BV(UDRE0))) {}
    UDR0 = (uint8_t)c;
    return 0;
}

/* Runs before main: connects stdout to the serial line. */
__attribute__((constructor)) static void test_begin(void)
{
    static FILE line;
    fdev_setup_stream(&line, test_put, NULL, _FDEV_SETUP_WRITE);
    UCSR0B = _BV(TXEN0);
    stdout = &line;
}
#endif

static inline bool test_check(bool holds, unsigned line, const char *what)
{
    test_checks++;
    if (!holds) {
        test_failures++;
        TEST_PRINT(TEST_TEXT ", line %u: " TEST_TEXT "\n", test_name, line, what);
    }
    return holds;
}

/* Prints up to 31 bits in decimal, more in hex, because not every printf supports 64 bits. */
static inline void test_print_number(uint64_t n)
{
    if (n + 0x80000000u < 0x100000000u) TEST_PRINT("%ld", (long)(int32_t)(uint32_t)n);
    else TEST_PRINT("0x%08lx%08lx", (unsigned long)(n >> 32), (unsigned long)(n & 0xffffffff));
}

static inline void test_check_eq(uint64_t found, uint64_t expected, unsigned line, const char *what)
{
    if (test_check(found == expected, line, what)) return;
    TEST_PRINT("%s", "    found ");
    test_print_number(found);
    TEST_PRINT("%s", ", expected ");
    test_print_number(expected);
    TEST_PRINT("%s", "\n");
}

static inline void test_check_double(double found, double expected, unsigned line, const char *what)
{
    bool same = memcmp(&found, &expected, sizeof found) == 0 || (found != found && expected != expected);
    test_check(same, line, what);
}

/* `expected` is a literal: on AVR in flash. */
static inline void test_check_bytes(const void *found, size_t size, const char *expected, size_t expected_size, unsigned line,
                                    const char *what)
{
#if defined(__AVR__)
    bool same = size == expected_size && (size == 0 || memcmp_P(found, expected, size) == 0);
#else
    bool same = size == expected_size && (size == 0 || memcmp(found, expected, size) == 0);
#endif
    if (test_check(same, line, what)) return;
    TEST_PRINT("    %u bytes, expected %u; found", (unsigned)size, (unsigned)expected_size);
    for (size_t i = 0; i < size && i < 64; i++) TEST_PRINT(" %02x", ((const uint8_t *)found)[i]);
    TEST_PRINT("%s", "\n");
}

/* Prints the last line. Returns the exit code for main. */
static inline int test_end(const char *name)
{
    TEST_PRINT("%s: %u checks, %u failed\n", name, test_checks, test_failures);
#if defined(__AVR__)
    while (!(UCSR0A & _BV(UDRE0))) {}
    cli();
    sleep_mode(); /* without interrupts, this ends the simulation */
#endif
    return test_failures > 0 || test_checks == 0;
}

/* Runs `void function(void)`. */
#define TEST(function) (test_name = TEST_LITERAL(#function), function())

#define CHECK(condition) test_check((condition), __LINE__, TEST_LITERAL(#condition))

/* Compares integers; a float does not compile. A negative number differs from the unsigned number with the same
 * bits. */
#define CHECK_EQ(found, expected) \
    test_check_eq((uint64_t)((found) | 0), (uint64_t)((expected) | 0), __LINE__, TEST_LITERAL(#found " is " #expected))

/* Compares floats and doubles: both must have the same bits, or be NaN. */
#define CHECK_DOUBLE(found, expected) \
    test_check_double((double)(found), (double)(expected), __LINE__, TEST_LITERAL(#found " is " #expected))

/* Compares `size` bytes at `found` with a string literal, which may contain NULs: CHECK_BYTES(buffer, 2, "\x81"
 * "a"). */
#define CHECK_BYTES(found, size, literal) \
    test_check_bytes((found), (size), TEST_LITERAL("" literal), sizeof("" literal) - 1, __LINE__, TEST_LITERAL(#found " is " #literal))

/* Compares a text that ends at its NUL with a string literal. */
#define CHECK_STR(found, literal) CHECK_BYTES((found), strlen(found), literal)

#endif
