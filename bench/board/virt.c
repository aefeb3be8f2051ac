/* The sketch on QEMU's RISC-V machine `virt`, with its serial line: for `check`. The key q ends QEMU. */
#include "bench.h"

#define UART ((volatile uint8_t *)0x10000000)
#define UART_STATUS 5
#define RECEIVED 1
#define FREE 0x20
/* The lower half of a counter of 10 MHz. */
#define TIME (*(volatile uint32_t *)0x0200bff8)
#define TEST_DEVICE (*(volatile uint32_t *)0x100000)
#define PASSED 0x5555

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

__asm__(".section .vectors, \"ax\"\n.globl start\nstart:\n\tla sp, stack_top\n\tj reset\n.text\n");

uint32_t bench_micros(void) { return TIME / 10; }

void bench_put(char c) {
    while (!(UART[UART_STATUS] & FREE)) {}
    UART[0] = (uint8_t)c;
}

/* The machine has no pins. */
void bench_mark(bool high) { (void)high; }

__attribute__((used)) void reset(void) {
    for (volatile uint32_t *to = data_start, *from = data_load; to < data_end;) *to++ = *from++;
    for (volatile uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    bench_help();
    for (;;) {
        if (!(UART[UART_STATUS] & RECEIVED)) continue;
        char key = (char)UART[0];
        if (key == 'q') TEST_DEVICE = PASSED;
        bench_key(key);
    }
}
