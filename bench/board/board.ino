// Measures libraries on this board: see README.md. Written by `dunnage-bench-mcu sketch`; the messages are in src/.
#include "src/bench.h"

// High during each measurement, for the digital input of a power analyzer.
#define MARK 2

uint32_t bench_micros(void) { return micros(); }

void bench_put(char c) { Serial.write(c); }

void bench_mark(bool high) { digitalWrite(MARK, high ? HIGH : LOW); }

void setup() {
    pinMode(MARK, OUTPUT);
    Serial.begin(115200);
    while (!Serial) {}
    bench_help();
}

void loop() {
    if (Serial.available()) bench_key((char)Serial.read());
}
