/* Runs a firmware of ../firmware on a simulated AVR and prints its report.
 *
 *     run FIRMWARE.elf MCU END-OF-DATA CYCLE-LIMIT
 *
 * END-OF-DATA is the address after the static data, in hexadecimal. Prints a line for each region and each folded value:
 *
 *     start ID                         the following folds belong to the region
 *     region ID cycles N stack N       the end of the region; bytes of stack below the caller's
 *     fold KIND HEX                    the contents of text and bytes, numbers in little-endian
 *     end cycles N free N              bytes that were never used between static data and stack
 *
 * Fails when the firmware crashes, does not end, or its stack runs into its static data.
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { GPIOR0 = 0x3e, GPIOR1 = 0x4a, GPIOR2 = 0x4b, SPL = 0x5d, SPH = 0x5e };

/* `ldi` and `out` of the closing mark, see MEASURE. */
enum { MARK_CYCLES = 2 };

typedef struct {
    uint8_t kind; /* of the value that is being folded, or 0 */
    uint8_t bytes[8];
    unsigned count;

    uint8_t region;
    avr_cycle_count_t started;
    uint16_t started_sp;
    bool running;

    uint16_t lowest; /* stack pointer of the region */
    uint16_t lowest_ever;
} recorder;

static uint16_t stack_pointer(const avr_t *avr) { return (uint16_t)(avr->data[SPL] | avr->data[SPH] << 8); }

static bool is_span(uint8_t kind) { return kind == 'k' || kind == 't' || kind == 'x'; }

static void print_bytes(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) printf("%02x", bytes[i]);
    putchar('\n');
}

static void end_fold(avr_t *avr, recorder *rec) {
    if (rec->kind && rec->kind != 'r') {
        printf("fold %c ", rec->kind);
        if (is_span(rec->kind) && rec->count == 4) {
            size_t at = (size_t)(rec->bytes[0] | rec->bytes[1] << 8), size = (size_t)(rec->bytes[2] | rec->bytes[3] << 8);
            if (at + size > (size_t)avr->ramend + 1) {
                fprintf(stderr, "text outside of the memory: %zu bytes at 0x%zx\n", size, at);
                exit(1);
            }
            print_bytes(avr->data + at, size);
        } else {
            print_bytes(rec->bytes, rec->count);
        }
    }
    rec->kind = 0;
    rec->count = 0;
}

static void write_mark(avr_t *avr, avr_io_addr_t addr, uint8_t what, void *param) {
    recorder *rec = param;
    (void)addr;
    if (what == 1) {
        rec->region = rec->bytes[0];
        end_fold(avr, rec);
        printf("start %u\n", rec->region);
        rec->started = avr->cycle;
        rec->started_sp = rec->lowest = stack_pointer(avr);
        rec->running = true;
    } else if (rec->running) {
        long cycles = (long)(avr->cycle - rec->started) - MARK_CYCLES;
        end_fold(avr, rec);
        rec->running = false;
        printf("region %u cycles %ld stack %u\n", rec->region, cycles, (unsigned)(rec->started_sp - rec->lowest));
    }
}

static void write_kind(avr_t *avr, avr_io_addr_t addr, uint8_t kind, void *param) {
    recorder *rec = param;
    (void)addr;
    end_fold(avr, rec);
    rec->kind = kind;
}

static void write_byte(avr_t *avr, avr_io_addr_t addr, uint8_t byte, void *param) {
    recorder *rec = param;
    (void)addr;
    if (rec->count == sizeof rec->bytes) {
        fprintf(stderr, "more bytes than a value has\n");
        exit(1);
    }
    rec->bytes[rec->count++] = byte;
    if (is_span(rec->kind) && rec->count == 4) end_fold(avr, rec); /* now, before its memory is reused */
}

/* Whether the instruction at `pc` is `out address, r`. `address` is in the data space. */
static bool is_out(const avr_t *avr, avr_flashaddr_t pc, unsigned address) {
    unsigned opcode = (unsigned)(avr->flash[pc] | avr->flash[pc + 1] << 8);
    unsigned io = (opcode & 0x0f) | ((opcode >> 5) & 0x30);
    return (opcode & 0xf800) == 0xb800 && io + 0x20 == address;
}

static void log_errors(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level <= LOG_ERROR) vfprintf(stderr, format, arguments);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: run FIRMWARE.elf MCU END-OF-DATA CYCLE-LIMIT\n");
        return 2;
    }
    uint16_t end_of_data = (uint16_t)strtoul(argv[3], NULL, 16);
    avr_cycle_count_t limit = strtoull(argv[4], NULL, 10);

    avr_global_logger_set(log_errors);
    elf_firmware_t firmware = {0};
    if (elf_read_firmware(argv[1], &firmware) != 0) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return 1;
    }
    avr_t *avr = avr_make_mcu_by_name(argv[2]);
    if (!avr || avr_init(avr) != 0) {
        fprintf(stderr, "simavr does not know %s\n", argv[2]);
        return 1;
    }
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    avr->run_cycle_limit = 1; /* one instruction a step, to see every value of the stack pointer */
    avr->sleep = avr_callback_sleep_raw;

    recorder rec = {.lowest_ever = 0xffff};
    avr_register_io_write(avr, GPIOR0, write_mark, &rec);
    avr_register_io_write(avr, GPIOR1, write_kind, &rec);
    avr_register_io_write(avr, GPIOR2, write_byte, &rec);

    int state = cpu_Running;
    bool half_written = false; /* the stack pointer is set in two steps, the upper byte first */
    while (state != cpu_Done && state != cpu_Crashed) {
        bool upper = is_out(avr, avr->pc, SPH), lower = is_out(avr, avr->pc, SPL);
        state = avr_run(avr);
        half_written = upper || (half_written && !lower);
        uint16_t sp = stack_pointer(avr);
        if (!half_written && sp) {
            if (sp < rec.lowest) rec.lowest = sp;
            if (sp < rec.lowest_ever) rec.lowest_ever = sp;
        }
        if (rec.lowest_ever + 1 < end_of_data) {
            fprintf(stderr, "the stack runs into the static data, by %d bytes at least\n", end_of_data - rec.lowest_ever - 1);
            return 1;
        }
        if (avr->cycle > limit) {
            fprintf(stderr, "not done after %llu cycles\n", (unsigned long long)limit);
            return 1;
        }
    }
    if (state == cpu_Crashed || rec.running) {
        fprintf(stderr, "the firmware crashed at 0x%x\n", (unsigned)avr->pc);
        return 1;
    }
    end_fold(avr, &rec);
    printf("end cycles %llu free %d\n", (unsigned long long)avr->cycle, rec.lowest_ever + 1 - end_of_data);
    return 0;
}
