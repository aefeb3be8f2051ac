/* The marks and folds on 32-bit targets in QEMU, for src/qemu.rs.
 *
 * The firmware reports by writing to and reading from addresses of a device: QEMU logs each access with its value (-trace
 * memory_region_ops_write and _read). A fold is a store to a constant address, so it costs about two instructions.
 *
 * A region is measured by reading the machine's timer before and after it; QEMU advances the timer by 1024 ns per instruction (-icount
 * shift=10). Text is folded as its address and length; the memory that contains it is reported before the next region starts.
 */
#ifndef MEASURE_MEMORY_H
#define MEASURE_MEMORY_H

#include <string.h>

#if defined(__riscv)
/* The timer's compare registers of harts that do not exist (QEMU, virt); its time is at 0x0200bff8. */
#define REPORT_TO 0x02004100u
#define TIMER_READ "lui %0, 0x200c\n\tlw %0, -8(%0)"
#define READ_STACK_POINTER "mv %0, sp"
#elif defined(__XTENSA__)
/* Only linked, to measure the size. */
#define REPORT_TO 0x60000000u
#define TIMER_READ "rsr %0, ccount"
#define READ_STACK_POINTER "mov %0, a1"
#else
/* Peripherals that QEMU does not emulate: the display of the MPS2, and on the microbit one of the nRF51. */
#if __ARM_ARCH == 6
#define REPORT_TO 0x40021000u
#else
#define REPORT_TO 0x41000000u
#endif
/* SysTick, at 0xe000e018, counts down. Its address is computed with instructions of every Thumb version, because a constant in memory may be
 * out of reach. */
#define TIMER_READ \
    ".syntax unified\n\tmovs %0, #0xe0\n\tlsls %0, %0, #16\n\tadds %0, #0xe0\n\tlsls %0, %0, #8\n\tldr %0, [%0, #0x18]"
#define READ_STACK_POINTER "mov %0, sp"
#endif

#if defined(__arm__)
#define LOW_REGISTER "l"
#define FLAGS , "cc"
#else
#define LOW_REGISTER "r"
#define FLAGS
#endif

/* The offsets of the reports; src/qemu.rs has the same list. They are below 128, the range of every Thumb-1 store. */
enum {
    SAY_U32 = 0x00,
    SAY_U64 = 0x04, /* the lower half, then the upper one at the next offset */
    SAY_I32 = 0x0c,
    SAY_I64 = 0x10,
    SAY_FLOAT = 0x18,
    SAY_DOUBLE = 0x1c,
    SAY_BOOL = 0x24,
    SAY_NULL = 0x28,
    SAY_MAP = 0x2c,
    SAY_ARRAY = 0x30,
    SAY_KEY = 0x34, /* its address; its size follows */
    SAY_TEXT = 0x38,
    SAY_BYTES = 0x3c,
    SAY_SIZE = 0x40,
    SAY_REGION = 0x44, /* the next two reads of the timer belong to it */
    SAY_STACK = 0x48, /* bytes of stack that the region used below its caller's */
    SAY_MEMORY_AT = 0x4c, /* the address of the following words */
    SAY_MEMORY = 0x50,
    SAY_END = 0x54
};

static inline __attribute__((always_inline)) void say(unsigned what, uint32_t value) {
    *(volatile uint32_t *)(REPORT_TO + what) = value;
}

/* Reports the static data. */
void measure_memory(void);

/* Bytes of the stack that are painted before a region, to find the deepest use. */
#define PAINTED 2048
#define PAINT 0xa5a5a5a5u

/* There are no function calls between the paint and the marks, because they would use stack themselves. */
#define MEASURE(region, statement) \
    do { \
        uintptr_t caller, mark; \
        measure_memory(); \
        say(SAY_REGION, (region)); \
        __asm__ volatile(READ_STACK_POINTER : "=r"(caller)); \
        for (volatile uint32_t *at = (volatile uint32_t *)(caller - PAINTED); at < (volatile uint32_t *)caller; at++) *at = PAINT; \
        __asm__ volatile(TIMER_READ : "=" LOW_REGISTER (mark) : : "memory" FLAGS); \
        statement; \
        __asm__ volatile(TIMER_READ : "=" LOW_REGISTER (mark) : : "memory" FLAGS); \
        (void)mark; \
        volatile uint32_t *lowest = (volatile uint32_t *)(caller - PAINTED); \
        while (lowest < (volatile uint32_t *)caller && *lowest == PAINT) lowest++; \
        say(SAY_STACK, caller - (uintptr_t)lowest); \
    } while (0)

static inline void say_64(unsigned what, uint64_t value) {
    say(what, (uint32_t)value);
    say(what + 4, (uint32_t)(value >> 32));
}

static inline void say_span(unsigned what, const void *at, size_t size) {
    say(what, (uint32_t)(uintptr_t)at);
    say(SAY_SIZE, (uint32_t)size);
}

static inline void fold_u32(uint32_t value) { say(SAY_U32, value); }
static inline void fold_u64(uint64_t value) { say_64(SAY_U64, value); }
static inline void fold_i32(int32_t value) { say(SAY_I32, (uint32_t)value); }
static inline void fold_i64(int64_t value) { say_64(SAY_I64, (uint64_t)value); }
static inline void fold_bool(bool value) { say(SAY_BOOL, value); }
static inline void fold_null(void) { say(SAY_NULL, 0); }
static inline void fold_map(uint32_t entries) { say(SAY_MAP, entries); }
static inline void fold_array(uint32_t elements) { say(SAY_ARRAY, elements); }
static inline void fold_key(const char *text, size_t size) { say_span(SAY_KEY, text, size); }
static inline void fold_text(const char *text, size_t size) { say_span(SAY_TEXT, text, size); }
static inline void fold_bytes(const void *bytes, size_t size) { say_span(SAY_BYTES, bytes, size); }

static inline void fold_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    say(SAY_FLOAT, bits);
}

static inline void fold_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    say_64(SAY_DOUBLE, bits);
}

#endif
