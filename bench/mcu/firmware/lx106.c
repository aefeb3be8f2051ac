/* The firmware on Xtensa lx106, which is only linked, for its size. */
#include "measure.h"

void measure_all(void);
__attribute__((used, externally_visible)) void reset(void);

void measure_memory(void) {}

void reset(void) { measure_all(); }
