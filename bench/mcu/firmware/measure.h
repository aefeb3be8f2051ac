/* What the measured firmware tells the one who runs it.
 *
 * MEASURE(region, statement) runs the statement between two marks. Everything that a message is read into is reported by the fold_
 * functions, so that the compiler can leave nothing out and the rig can compare each value with the one that was expected.
 * They are cheap, and the same for every library.
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
