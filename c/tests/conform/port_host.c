#include "conform.h"

#include <stdio.h>

void port_begin(void) {}

int port_get(void) { return getchar(); }

void port_put(char c) { putchar(c); }

void port_flush(void) { fflush(stdout); }

void port_end(void) {}
