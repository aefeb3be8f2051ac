/* Runs a program on a simulated AVR. Its serial line is stdin and stdout; it receives bytes as fast as it reads
 * them.
 *
 *     simulate MCU PROGRAM.elf
 *
 * Sends a byte 4 at the end of the input. Exits with 0 when the program sleeps without interrupts, with 1 when it
 * crashed. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <poll.h>
#include <unistd.h>

#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

enum { END_OF_INPUT = 4, POLL_INTERVAL = 1000 /* instructions between two polls of an empty stdin */ };

static bool has_room; /* the program has room for a byte */

static void on_output(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)context;
    putchar((int)(value & 0xff));
    if ((value & 0xff) == '\n') fflush(stdout);
}

static void on_room(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value, (void)context;
    has_room = true;
}

static void on_full(struct avr_irq_t *irq, uint32_t value, void *context)
{
    (void)irq, (void)value, (void)context;
    has_room = false;
}

/* simavr logs to stdout, which is reserved for the program. */
static void log_errors(struct avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)avr;
    if (level <= LOG_ERROR) vfprintf(stderr, format, arguments);
}

static avr_t *load(const char *mcu, const char *path)
{
    elf_firmware_t program;
    memset(&program, 0, sizeof program);
    avr_t *avr = avr_make_mcu_by_name(mcu);
    if (!avr || avr_init(avr) != 0 || elf_read_firmware(path, &program) != 0) return NULL;
    program.frequency = 16000000;
    avr_load_firmware(avr, &program);

    uint32_t flags = 0; /* simavr must neither sleep while the program polls, nor print its output */
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on_room, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), on_full, NULL);
    return avr;
}

/* Returns the next byte of stdin, END_OF_INPUT at its end, or -1 if no byte has arrived yet, because the program may still
 * have to answer the last one. */
static int next_byte(void)
{
    static uint8_t bytes[4096];
    static ssize_t size, at;
    static int wait;
    if (at < size) return bytes[at++];
    struct pollfd input = {0, POLLIN, 0};
    if (wait-- > 0) return -1;
    wait = POLL_INTERVAL;
    if (poll(&input, 1, 0) <= 0) return -1;
    wait = 0;
    at = 0;
    size = read(0, bytes, sizeof bytes);
    return size > 0 ? bytes[at++] : END_OF_INPUT;
}

int main(int argc, char **argv)
{
    avr_global_logger_set(log_errors);
    avr_t *avr = argc == 3 ? load(argv[1], argv[2]) : NULL;
    if (!avr) {
        fprintf(stderr, "usage: simulate MCU PROGRAM.elf\n");
        return 2;
    }
    avr_irq_t *input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    int state = cpu_Running;
    while (state != cpu_Done && state != cpu_Crashed) {
        state = avr_run(avr);
        int byte = has_room ? next_byte() : -1;
        if (byte >= 0) avr_raise_irq(input, (uint32_t)byte);
    }
    return state == cpu_Crashed;
}
