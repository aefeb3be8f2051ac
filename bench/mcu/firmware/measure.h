/* The reports of the measured firmware to the simulator.
 *
 * MEASURE(region, statement) runs the statement between two marks. The fold_ functions report every value that is read from a message, so
 * that the compiler cannot remove any work and the rig can compare each value with the expected one. They are cheap, and the same for every
 * library.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler may assume nothing about what `pointer` points to: neither that it is constant, nor what it holds. */
#define HIDE(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

#if defined(__AVR__)
#include "measure_avr.h"
#else
#include "measure_memory.h"
#endif

#endif
