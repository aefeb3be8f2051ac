/* Four kernels that avr-gcc 7.3 does not find by itself, and the same in C for every other target. c/docs/cycles.md has the figures. */
#ifndef DN_AVR_H
#define DN_AVR_H

#include "dn_internal.h"

#include <string.h>

#if defined(__AVR__) && defined(__AVR_HAVE_LPMX__)
#include <avr/pgmspace.h>

/* Stores a byte and steps on, in 2 cycles; of several of them in C, each becomes an adiw, a st and a sbiw. */
static inline uint8_t *dn__store(uint8_t *at, uint8_t byte)
{
    __asm__ volatile("st X+, %1" : "+x"(at) : "r"(byte) : "memory");
    return at;
}

/* Copies up to 127 bytes, 7 cycles each; in C 10. */
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

/* The same from flash, 8 cycles each; in C 13. */
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

/* Copies any number of bytes but 0, from RAM in 7 cycles each, from flash in 8, and steps over them. */
static inline uint8_t *dn__copy_on(uint8_t *to, const uint8_t **from, size_t n, bool in_flash)
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

/* n >> 7 in 9 cycles instead of 65: a step to the left moves the eighth bit into the carry, and the bytes move down as it enters them. */
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

/* dn__room for a caller that goes on with what it has in r18 to r23: its other arguments. The stub saves them, at the end of a buffer, so
 * that the caller need not do it in every item. */
void dn__room_stub(void);
static inline bool dn__make_room(dn_writer *w, size_t n)
{
    register bool fits __asm__("r24");
    __asm__ volatile("%~call %x[stub]" /* rcall where there is no call */
        : "=r"(fits), "+x"(n) : "z"(w), [stub] "i"(dn__room_stub) : "r25", "memory");
    return fits;
}

/* The upper half. With n >> 16, the compiler moves all four bytes to registers that have to be saved first. */
static inline uint16_t dn__high(uint32_t n)
{
    uint16_t high;
    __asm__("movw %0, %C1" : "=r"(high) : "r"(n));
    return high;
}

#if defined(__AVR_HAVE_MUL__)
#define DN__DIVIDE_BYTES
/* Divides the number of `size` bytes (not 0), the lowest first, and gives the remainder: 30 cycles a byte; in C 60, and by the compiler's division
 * 300. The divisor is 125 at most, `inverse` is 65536 / divisor. A byte of the quotient is estimated from the upper halves of products, at most 2
 * too small. */
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

#if defined(__AVR__) /* an old core, without lpm Z+ and movw */
static inline uint8_t *dn__copy_P(uint8_t *to, const void *from, uint8_t n)
{
    memcpy_P(to, from, n);
    return to + n;
}
#endif

static inline uint8_t *dn__copy_on(uint8_t *to, const uint8_t **from, size_t n, bool in_flash)
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
