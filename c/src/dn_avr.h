/* Kernels in assembly for code that avr-gcc 7.3 does not optimize well, and the same in C for every other target. c/docs/cycles.md has
 * the measurements. */
#ifndef DN_AVR_H
#define DN_AVR_H

#include "dn_internal.h"

#include <string.h>

#if defined(__AVR__) && defined(__AVR_HAVE_LPMX__)
#include <avr/pgmspace.h>

/* Stores a byte at `at` in 2 cycles, and returns the address after it. For several such stores in C, the compiler makes an adiw, a st
 * and a sbiw each. */
static inline uint8_t *dn__store(uint8_t *at, uint8_t byte)
{
    __asm__ volatile("st X+, %1" : "+x"(at) : "r"(byte) : "memory");
    return at;
}

/* Copies `n` bytes, 0 to 127, in 7 cycles each (in C 10). Returns the address after the last one. */
static inline uint8_t *dn__copy(uint8_t *to, const void *from, uint8_t n)
{
    __asm__ volatile(
        "dec %2\n\t"
        "brmi 2f\n"
        "1:\tld __tmp_reg__, Z+\n\t"
        "st X+, __tmp_reg__\n\t"
        "dec %2\n\t"
        "brpl 1b\n"
        "2:"
        : "+x"(to), "+z"(from), "+r"(n) : : "memory");
    return to;
}

/* The same from flash, in 8 cycles each (in C 13). */
static inline uint8_t *dn__copy_P(uint8_t *to, const void *from, uint8_t n)
{
    __asm__ volatile(
        "dec %2\n\t"
        "brmi 2f\n"
        "1:\tlpm __tmp_reg__, Z+\n\t"
        "st X+, __tmp_reg__\n\t"
        "dec %2\n\t"
        "brpl 1b\n"
        "2:"
        : "+x"(to), "+z"(from), "+r"(n) : : "memory");
    return to;
}

/* Copies `n` bytes, 1 or more, from RAM in 7 cycles each or from flash in 8. Advances `*from` by `n`, and returns the address after the
 * last byte written. */
static inline uint8_t *dn__copy_from(uint8_t *to, const uint8_t **from, size_t n, bool in_flash)
{
    __asm__ volatile(
        "cpse %A2, __zero_reg__\n\t"
        "inc %B2\n\t"
        "tst %3\n\t"
        "brne 2f\n"
        "1:\tld __tmp_reg__, Z+\n\t"
        "st X+, __tmp_reg__\n\t"
        "dec %A2\n\t"
        "brne 1b\n\t"
        "dec %B2\n\t"
        "brne 1b\n\t"
        "rjmp 3f\n"
        "2:\tlpm __tmp_reg__, Z+\n\t"
        "st X+, __tmp_reg__\n\t"
        "dec %A2\n\t"
        "brne 2b\n\t"
        "dec %B2\n\t"
        "brne 2b\n"
        "3:"
        : "+x"(to), "+z"(*from), "+r"(n) : "r"(in_flash) : "memory");
    return to;
}

/* Returns n >> 7 in 9 cycles instead of 65: a shift to the left moves bit 7 into the carry, and each byte moves down as it receives the
 * carry. */
static inline uint32_t dn__next_group(uint32_t n)
{
    __asm__(
        "lsl %A0\n\t"
        "mov %A0, %B0\n\t"
        "rol %A0\n\t"
        "mov %B0, %C0\n\t"
        "rol %B0\n\t"
        "mov %C0, %D0\n\t"
        "rol %C0\n\t"
        "clr %D0\n\t"
        "rol %D0"
        : "+r"(n));
    return n;
}

/* dn__room for a caller that keeps its other arguments in r18 to r23. The stub at the end of a buffer saves these registers, so that the
 * caller does not save them for every item. */
void dn__room_stub(void);
static inline bool dn__make_room(dn_writer *w, size_t n)
{
    register bool fits __asm__("r24");
    __asm__ volatile("%~call %x[stub]" /* rcall on cores without call */
        : "=r"(fits), "+x"(n) : "z"(w), [stub] "i"(dn__room_stub) : "r25", "memory");
    return fits;
}

/* Returns the upper 16 bits. For n >> 16, the compiler moves all four bytes to registers that must be saved first. */
static inline uint16_t dn__high(uint32_t n)
{
    uint16_t high;
    __asm__("movw %0, %C1" : "=r"(high) : "r"(n));
    return high;
}

#if defined(__AVR_HAVE_MUL__)
#define DN__DIVIDE_BYTES
/* Divides the number of `size` bytes (1 or more), lowest byte first, in place, and returns the remainder. 30 cycles a byte; C code takes
 * 60, and the compiler's division 300. The divisor is 125 at most, and `inverse` is 65536 / divisor. Each byte of the quotient is
 * estimated from the upper halves of products, and is at most 2 too small. */
static inline uint8_t dn__divide_bytes(uint8_t *bytes, uint8_t size, uint8_t divisor, uint16_t inverse)
{
    uint8_t *end = bytes + size;
    uint8_t rest = 0, low, quotient;
    uint16_t sum;
    __asm__ volatile(
        "1:\tld %[low], -%a[end]\n\t"
        "mul %[rest], %A[inverse]\n\t"
        "movw %[sum], r0\n\t"
        "mul %[low], %B[inverse]\n\t"
        "add %A[sum], r0\n\t"
        "adc %B[sum], r1\n\t"
        "mul %[rest], %B[inverse]\n\t"
        "mov %[quotient], r0\n\t"
        "add %[quotient], %B[sum]\n\t"
        "mul %[quotient], %[divisor]\n\t"
        "sub %[low], r0\n\t"
        "sbc %[rest], r1\n\t"
        "clr r1\n"
        "2:\tcp %[low], %[divisor]\n\t"
        "cpc %[rest], r1\n\t"
        "brlo 3f\n\t"
        "sub %[low], %[divisor]\n\t"
        "sbc %[rest], r1\n\t"
        "inc %[quotient]\n\t"
        "rjmp 2b\n"
        "3:\tmov %[rest], %[low]\n\t"
        "st %a[end], %[quotient]\n\t"
        "dec %[size]\n\t"
        "brne 1b"
        : [rest] "+r"(rest), [low] "=&r"(low), [quotient] "=&r"(quotient), [sum] "=&r"(sum), [end] "+e"(end), [size] "+r"(size)
        : [divisor] "r"(divisor), [inverse] "r"(inverse)
        : "r0", "memory");
    return rest;
}
#endif

#else

static inline bool dn__make_room(dn_writer *w, size_t n) { return dn__room(w, n); }

static inline uint8_t *dn__store(uint8_t *at, uint8_t byte)
{
    *at++ = byte;
    return at;
}

static inline uint8_t *dn__copy(uint8_t *to, const void *from, uint8_t n)
{
    const uint8_t *bytes = (const uint8_t *)from;
    for (; n; --n) *to++ = *bytes++;
    return to;
}

#if defined(__AVR__) /* an old core without lpm Z+ and movw */
static inline uint8_t *dn__copy_P(uint8_t *to, const void *from, uint8_t n)
{
    memcpy_P(to, from, n);
    return to + n;
}
#endif

static inline uint8_t *dn__copy_from(uint8_t *to, const uint8_t **from, size_t n, bool in_flash)
{
#if defined(__AVR__)
    if (in_flash) memcpy_P(to, *from, n);
    else memcpy(to, *from, n);
#else
    (void)in_flash;
    memcpy(to, *from, n);
#endif
    *from += n;
    return to + n;
}

static inline uint32_t dn__next_group(uint32_t n) { return n >> 7; }

static inline uint16_t dn__high(uint32_t n) { return (uint16_t)(n >> 16); }

#endif
#endif
