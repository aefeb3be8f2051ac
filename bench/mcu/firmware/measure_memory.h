/* The marks and folds on 32-bit targets in QEMU, for src/qemu.rs.
 *
 * The firmware reports by writing to and reading from addresses of a device: QEMU logs each access with its value (-trace
 * memory_region_ops_write and _read). A fold is a store to a constant address, so it costs about two instructions.
 *
 * A region is measured by reading the machine's timer before and after it, or on Xtensa by storing the core's counter. QEMU advances both by
 * 1024 ns per instruction (-icount shift=10). Text is folded as its address and length; the memory that contains it is reported before the next region starts.
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
/* Registers of the board's FPGA that do nothing. The core counts cycles itself, so the firmware stores its count where QEMU logs it. The
 * address is computed, because a constant in memory may be out of reach. */
#define REPORT_TO 0x9d020100u
#define TIMER_READ \
    "rsr %0, ccount\n\tmovi a2, 0x4e8\n\tslli a2, a2, 4\n\taddi a2, a2, 1\n\tslli a2, a2, 17\n\ts32i %0, a2, 0x80"
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
#elif defined(__XTENSA__)
#define LOW_REGISTER "r"
#define FLAGS , "a2"
#else
#define LOW_REGISTER "r"
#define FLAGS
#endif

/* The offsets of the reports; src/qemu.rs has the same list. They are below 128, the range of every Thumb-1 store. */
enum {
    REPORT_U32 = 0x00,
    REPORT_U64 = 0x04, /* the lower half, then the upper one at the next offset */
    REPORT_I32 = 0x0c,
    REPORT_I64 = 0x10,
    REPORT_FLOAT = 0x18,
    REPORT_DOUBLE = 0x1c,
    REPORT_BOOL = 0x24,
    REPORT_NULL = 0x28,
    REPORT_MAP = 0x2c,
    REPORT_ARRAY = 0x30,
    REPORT_KEY = 0x34, /* its address; its size follows */
    REPORT_TEXT = 0x38,
    REPORT_BYTES = 0x3c,
    REPORT_SIZE = 0x40,
    REPORT_REGION = 0x44, /* the next two reads of the timer belong to it */
    REPORT_STACK = 0x48, /* bytes of stack that the region used below its caller's */
    REPORT_MEMORY_AT = 0x4c, /* the address of the following words */
    REPORT_MEMORY = 0x50,
    REPORT_END = 0x54
};

static inline __attribute__((always_inline)) void report(unsigned what, uint32_t value) {
    *(volatile uint32_t *)(REPORT_TO + what) = value;
}

/* Reports the static data. */
void measure_memory(void);

/* Bytes of the stack that are painted before a region, to find the deepest use. */
#ifndef PAINTED
#define PAINTED 2048
#endif
#define PAINT 0xa5a5a5a5u

/* No functions are called between the paint and the marks, because they would use stack themselves. */
#define MEASURE(region, statement) \
    do { \
        uintptr_t caller, mark; \
        measure_memory(); \
        report(REPORT_REGION, (region)); \
        __asm__ volatile(READ_STACK_POINTER : "=r"(caller)); \
        for (volatile uint32_t *at = (volatile uint32_t *)(caller - PAINTED); at < (volatile uint32_t *)caller; at++) *at = PAINT; \
        __asm__ volatile(TIMER_READ : "=" LOW_REGISTER (mark) : : "memory" FLAGS); \
        statement; \
        __asm__ volatile(TIMER_READ : "=" LOW_REGISTER (mark) : : "memory" FLAGS); \
        (void)mark; \
        volatile uint32_t *lowest = (volatile uint32_t *)(caller - PAINTED); \
        while (lowest < (volatile uint32_t *)caller && *lowest == PAINT) lowest++; \
        report(REPORT_STACK, caller - (uintptr_t)lowest); \
    } while (0)

static inline void report_64(unsigned what, uint64_t value) {
    report(what, (uint32_t)value);
    report(what + 4, (uint32_t)(value >> 32));
}

static inline void report_span(unsigned what, const void *at, size_t size) {
    report(what, (uint32_t)(uintptr_t)at);
    report(REPORT_SIZE, (uint32_t)size);
}

static inline void fold_u32(uint32_t value) { report(REPORT_U32, value); }
static inline void fold_u64(uint64_t value) { report_64(REPORT_U64, value); }
static inline void fold_i32(int32_t value) { report(REPORT_I32, (uint32_t)value); }
static inline void fold_i64(int64_t value) { report_64(REPORT_I64, (uint64_t)value); }
static inline void fold_bool(bool value) { report(REPORT_BOOL, value); }
static inline void fold_null(void) { report(REPORT_NULL, 0); }
static inline void fold_map(uint32_t entries) { report(REPORT_MAP, entries); }
static inline void fold_array(uint32_t elements) { report(REPORT_ARRAY, elements); }
static inline void fold_key(const char *text, size_t size) { report_span(REPORT_KEY, text, size); }
static inline void fold_text(const char *text, size_t size) { report_span(REPORT_TEXT, text, size); }
static inline void fold_bytes(const void *bytes, size_t size) { report_span(REPORT_BYTES, bytes, size); }

static inline void fold_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    report(REPORT_FLOAT, bits);
}

static inline void fold_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    report_64(REPORT_DOUBLE, bits);
}

#endif
