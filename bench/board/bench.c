#include "bench.h"

/* A measurement lasts at least this long, in microseconds: the clock of an UNO has steps of 4. */
#define WINDOW 50000u
/* And has at most this many calls. */
#define MOST_CALLS 60000u

typedef struct {
    uint32_t first, all; /* microseconds of the first call, and of all calls that followed it */
    uint16_t calls;
} times;

static void put_text(const char *text) {
    while (*text) bench_put(*text++);
}

static void put_number(uint32_t number) {
    char digits[10];
    uint8_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) bench_put(digits[--count]);
}

/* Microseconds of a call, with three decimals. */
static void put_mean(const times *t) {
    uint32_t thousandths = t->all % t->calls * 1000 / t->calls;
    put_number(t->all / t->calls);
    bench_put('.');
    for (uint32_t least = 100; least > thousandths && least > 1; least /= 10) bench_put('0');
    put_number(thousandths);
}

/* Measures decoding if `size` is not 0, otherwise encoding. Returns false if a call failed. */
static bool measure(const bench_library *library, uint8_t message, size_t size, times *t) {
    uint32_t begun = bench_micros();
    bool ok = size ? library->decode(message, bench_buffer, size) : library->encode(message, bench_buffer, bench_buffer_size) != 0;
    t->first = bench_micros() - begun;
    t->calls = 0;
    if (!ok) return false;
    bench_mark(true);
    begun = bench_micros();
    do {
        if (size) ok &= library->decode(message, bench_buffer, size);
        else ok &= library->encode(message, bench_buffer, bench_buffer_size) != 0;
        t->calls++;
        t->all = bench_micros() - begun;
    } while (ok && t->all < WINDOW && t->calls < MOST_CALLS);
    bench_mark(false);
    return ok;
}

static void report(bool csv, const bench_library *library, uint8_t message, const char *operation, size_t size, const times *t) {
    const char *separator = csv ? "," : "  ";
    put_text(bench_names[message]);
    put_text(separator);
    put_text(library->format);
    put_text(separator);
    put_text(library->library);
    put_text(separator);
    put_text(operation);
    put_text(separator);
    put_number(size);
    put_text(csv ? "," : " bytes  ");
    if (t->calls) put_mean(t);
    put_text(csv ? "," : " us, the first call ");
    if (t->calls) put_number(t->first);
    put_text(csv ? "," : " us; calls: ");
    put_number(t->calls);
    put_text("\r\n");
}

static void run(bool csv) {
    if (csv) put_text("payload,format,library,operation,bytes,us,first_us,calls\r\n");
    for (uint8_t message = 0; message < bench_messages; message++) {
        size_t size = 0;
        for (uint8_t i = 0; i < bench_library_count; i++) {
            const bench_library *library = &bench_libraries[i];
            times t = {0, 0, 0};
            if (library->prepare != NULL && !library->prepare(message)) continue;
            if (library->encode != NULL) {
                size = library->encode(message, bench_buffer, bench_buffer_size);
                /* 0 calls say that the library cannot encode the message. */
                if (size == 0 || !measure(library, message, 0, &t)) size = 0, t.calls = 0;
                report(csv, library, message, "serialize", size, &t);
            }
            if (library->decode != NULL && size != 0) {
                if (!measure(library, message, size, &t)) t.calls = 0;
                report(csv, library, message, "deserialize", size, &t);
            }
        }
    }
    put_text(csv ? "end\r\n" : "Done. Press a key to repeat.\r\n");
}

void bench_help(void) { put_text("Keys: h measures, for people; c measures, as CSV.\r\n"); }

void bench_key(char key) {
    if (key == 'h') run(false);
    else if (key == 'c') run(true);
    else if (key > ' ') bench_help();
}
