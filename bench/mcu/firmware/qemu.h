/* The functions of qemu.c that cortexm.c, lx106.c and riscv.c call. */
#ifndef QEMU_H
#define QEMU_H

/* Initializes the static data. Must run before any code that uses it. */
void prepare_memory(void);

/* Checks the rig, then measures the generated code. */
void measure_everything(void);

/* A loop of 1 + 2 * count instructions; two stores. */
#if defined(__riscv)
#define LOOP(count) __asm__ volatile("li t0, " count "\n0: addi t0, t0, -1\n\tbnez t0, 0b" : : : "t0")
#define STORE_REGISTER "s1"
#define STORE_TWICE(at) __asm__ volatile("sw %0, 0(%0)\n\tsw %0, 0(%0)" : : "r"(at))
#elif defined(__XTENSA__)
#define LOOP(count) __asm__ volatile("movi a3, " count "\n0: addi a3, a3, -1\n\tbnez a3, 0b" : : : "a3")
#define STORE_REGISTER "a12"
#define STORE_TWICE(at) __asm__ volatile("s32i %0, %0, 0\n\ts32i %0, %0, 0" : : "r"(at))
#else
#define STORE_REGISTER "r4"
#define STORE_TWICE(at) __asm__ volatile("str %0, [%0]\n\tstr %0, [%0]" : : "l"(at))
#define LOOP(count) __asm__ volatile(".syntax unified\n\tmovs r3, #" count "\n0: subs r3, #1\n\tbne 0b" : : : "r3", "cc")
#endif

#endif
