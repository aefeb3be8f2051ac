// Measures libraries on this board: see README.md. Written by `dunnage-bench-mcu sketch`; the messages are in src/.
#include "src/bench.h"

uint32_t bench_micros(void) { return micros(); }

void bench_put(char c) { Serial.write(c); }

void setup() {
    Serial.begin(115200);
    while (!Serial) {}
    bench_help();
}

void loop() {
    if (Serial.available()) bench_key((char)Serial.read());
}
