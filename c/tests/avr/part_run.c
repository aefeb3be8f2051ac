/* Runs part.c or json.c on a simulated AVR: part_run MCU PROGRAM.elf [CYCLES]. Exits with 0 if the program sleeps with 0 in r24 before
 * CYCLES cycles have passed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

static void log_errors(struct avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)avr;
    if (level <= LOG_ERROR) vfprintf(stderr, format, arguments);
}

int main(int argc, char **argv)
{
    const avr_cycle_count_t limit = argc == 4 ? strtoull(argv[3], NULL, 10) : 100000000;
    elf_firmware_t program;
    avr_global_logger_set(log_errors);
    avr_t *avr = argc >= 3 ? avr_make_mcu_by_name(argv[1]) : NULL;
    memset(&program, 0, sizeof program);
    if (!avr || avr_init(avr) != 0 || elf_read_firmware(argv[2], &program) != 0) {
        fprintf(stderr, "usage: part_run MCU PROGRAM.elf\n");
        return 2;
    }
    program.frequency = 16000000;
    avr_load_firmware(avr, &program);
    int state = cpu_Running;
    while (state != cpu_Done && state != cpu_Crashed && avr->cycle < limit) state = avr_run(avr);
    if (state != cpu_Done) {
        fprintf(stderr, "%s: the program %s\n", argv[1], state == cpu_Crashed ? "crashed" : "took too long");
        return 1;
    }
    printf("%s: %u failures, %llu cycles\n", argv[1], (unsigned)avr->data[24], (unsigned long long)avr->cycle);
    return avr->data[24] != 0;
}
