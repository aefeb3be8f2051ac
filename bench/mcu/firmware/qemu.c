/* The common part of the firmwares for QEMU: start and report of the static data, and the loops of known length that check the rig. */
#include "qemu.h"

#include "measure.h"

/* From qemu.ld.h; all of them multiples of 4. */
extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

void measure_all(void);

void measure_memory(void) {
    report(REPORT_MEMORY_AT, (uint32_t)(uintptr_t)data_start);
    for (const volatile uint32_t *at = data_start; at < bss_end; at++) report(REPORT_MEMORY, *at);
}

void prepare_memory(void) {
    for (volatile uint32_t *to = data_start, *from = data_load; to < data_end;) *to++ = *from++;
    for (volatile uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
}

void measure_everything(void) {
    /* In a register that the stores can use, because a move within the region would be counted. */
    register volatile uint32_t *map __asm__(STORE_REGISTER) = (volatile uint32_t *)(REPORT_TO + REPORT_MAP);
    HIDE(map);
    MEASURE(0xff, ); /* nothing */
    MEASURE(0xfe, LOOP("100")); /* 1 + 100 * 2 = 201 */
    MEASURE(0xfd, LOOP("250"); LOOP("250"); STORE_TWICE(map)); /* 2 * (1 + 250 * 2) + 2 = 1004 */
    measure_all();
    measure_memory();
    report(REPORT_END, 0);
}
