/* The firmware on AVR: checks the rig with loops of known length, then measures the generated code. */
#include "measure.h"

#include <avr/interrupt.h>
#include <avr/sleep.h>

void measure_all(void);

int main(void) {
    MEASURE(0xff, ); /* 0 cycles */
    MEASURE(0xfe, __asm__ volatile("ldi r24, 100\n0: dec r24\n\tbrne 0b" : : : "r24")); /* 1 + 99 * 3 + 2 = 300 */
    MEASURE(0xfd, __asm__ volatile("ldi r24, lo8(1000)\n\tldi r25, hi8(1000)\n0: sbiw r24, 1\n\tbrne 0b"
                                   : : : "r24", "r25")); /* 2 + 999 * 4 + 3 = 4001 */
    measure_all();

    /* The simulator ends when the processor sleeps with interrupts disabled. */
    cli();
    sleep_enable();
    sleep_cpu();
    return 0;
}
