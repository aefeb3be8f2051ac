/* Start and end of the firmware on Xtensa lx106, in QEMU's board for FPGAs (kc705-nommu), which has devices that log accesses. */
#include "qemu.h"

#include <stdint.h>

__attribute__((used, externally_visible)) void reset(void);

__asm__(".section .vectors, \"ax\"\n.align 4\n0:\t.word stack_top\n.globl start\nstart:\n\tl32r a1, 0b\n\tj reset\n\t.text\n");

void reset(void) {
    prepare_memory();
    measure_everything();
    *(volatile uint32_t *)0x9d020010 = 0xdead; /* the register that resets the board, which ends QEMU with -no-reboot */
    for (;;) {}
}
