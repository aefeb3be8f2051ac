/* Start and end of the firmware on Cortex-M in QEMU. */
#include "qemu.h"

#include <stdint.h>

extern uint32_t stack_top[];
__attribute__((used, externally_visible)) void reset(void);

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {stack_top, (void *)reset};

#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)
#define CPACR (*(volatile uint32_t *)0xe000ed88)

/* Ends QEMU: semihosting's SYS_EXIT with ADP_Stopped_ApplicationExit. */
static void exit_qemu(void) { __asm__ volatile("movs r0, #0x18\n\tldr r1, =0x20026\n\tbkpt 0xab" : : : "r0", "r1"); }

void reset(void) {
#if defined(__ARM_FP)
    CPACR |= 0xfu << 20;
    __asm__ volatile("dsb\n\tisb");
#endif
    prepare_memory();
    SYST_RVR = 0xffffff;
    SYST_CVR = 0;
    SYST_CSR = 5; /* enabled, processor clock, no interrupt */
    measure_everything();
    exit_qemu();
    for (;;) {}
}
