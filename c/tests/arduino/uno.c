/* Runs a sketch on a simulated Arduino UNO (ATmega328P, 16 MHz, 5 V) and writes its serial output to stdout.
 *
 *     uno SKETCH.elf MILLISECONDS [adc CHANNEL MILLIVOLTS | send HEX AT_MILLISECONDS | edges BIT FILE]...
 *
 * `edges` writes a line for each change of a pin of port D, which has the digital pins 0 to 7: the milliseconds, and 0 or 1.
 * Time is that of the simulated clock, so that the output is the same on every machine. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_adc.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_time.h>

enum { CYCLES_PER_BYTE = 1389 /* 10 bits at 115,200 baud and 16 MHz */, INPUT_MAX = 512 };

/* A byte for the sketch, and the cycle at which it arrives. */
typedef struct {
    avr_cycle_count_t at;
    uint8_t byte;
} input_byte;

static input_byte input[INPUT_MAX];
static size_t input_size;
static avr_t *simulated;

/* simavr logs to stdout, which is reserved for the sketch. */
static void log_errors(struct avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level <= LOG_ERROR) vfprintf(stderr, format, arguments);
}

static void fail(const char *what) {
    fprintf(stderr, "uno: %s\n", what);
    exit(2);
}

static void on_output(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)param;
    putchar((int)(value & 0xff));
}

static void on_edge(struct avr_irq_t *irq, uint32_t value, void *file) {
    (void)irq;
    fprintf(file, "%.4f,%u\n", (double)simulated->cycle / 16000, (unsigned)value);
}

static void record_edges(int bit, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail("cannot write the edges");
    avr_irq_register_notify(avr_io_getirq(simulated, AVR_IOCTL_IOPORT_GETIRQ('D'), bit), on_edge, file);
}

static void queue_input(const char *hex, avr_cycle_count_t at) {
    for (; *hex; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0};
        char *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (end != digits + 2 || input_size == INPUT_MAX) fail("bad or too much input");
        input[input_size++] = (input_byte){at, (uint8_t)byte};
        at += CYCLES_PER_BYTE;
    }
}

static avr_t *load(const char *path) {
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(path, &firmware) != 0) fail("cannot read the sketch");
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    if (!avr || avr_init(avr) != 0) fail("no atmega328p");
    firmware.frequency = 16000000;
    firmware.vcc = firmware.avcc = firmware.aref = 5000;
    avr_load_firmware(avr, &firmware);

    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)AVR_UART_FLAG_STDIO;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    return avr;
}

int main(int argc, char **argv) {
    if (argc < 3) fail("usage: uno SKETCH.elf MILLISECONDS [adc CHANNEL MILLIVOLTS | send HEX AT_MILLISECONDS | edges BIT FILE]...");
    avr_global_logger_set(log_errors);
    avr_t *avr = simulated = load(argv[1]);
    avr_cycle_count_t end = avr_usec_to_cycles(avr, (uint32_t)atoi(argv[2]) * 1000u);

    for (int i = 3; i + 2 < argc; i += 3) {
        if (strcmp(argv[i], "adc") == 0) {
            int channel = atoi(argv[i + 1]);
            avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + channel), (uint32_t)atoi(argv[i + 2]));
        } else if (strcmp(argv[i], "send") == 0) {
            queue_input(argv[i + 1], avr_usec_to_cycles(avr, (uint32_t)atoi(argv[i + 2]) * 1000u));
        } else if (strcmp(argv[i], "edges") == 0) {
            record_edges(atoi(argv[i + 1]), argv[i + 2]);
        } else {
            fail("unknown word");
        }
    }

    avr_irq_t *receive = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    size_t sent = 0;
    while (avr->cycle < end) {
        if (sent < input_size && avr->cycle >= input[sent].at) avr_raise_irq(receive, input[sent++].byte);
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed) fail("the sketch crashed");
    }
    return 0;
}
