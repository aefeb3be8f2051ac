/* What programs find in the ROM of the ESP8266, for QEMU: the arithmetic of floats and of 64-bit integers that gcc calls, and functions of the
 * C library. The chip's own code is not free, so these are Berkeley SoftFloat and picolibc: their instructions are not those of the chip. */
#include <stdbool.h>
#include <stdint.h>

#include "platform.h"
#include "softfloat.h"

#define S(bits) ((float32_t){bits})
#define D(bits) ((float64_t){bits})

uint32_t __addsf3(uint32_t a, uint32_t b) { return f32_add(S(a), S(b)).v; }
uint32_t __subsf3(uint32_t a, uint32_t b) { return f32_sub(S(a), S(b)).v; }
uint32_t __mulsf3(uint32_t a, uint32_t b) { return f32_mul(S(a), S(b)).v; }
uint64_t __adddf3(uint64_t a, uint64_t b) { return f64_add(D(a), D(b)).v; }
uint64_t __subdf3(uint64_t a, uint64_t b) { return f64_sub(D(a), D(b)).v; }
uint64_t __muldf3(uint64_t a, uint64_t b) { return f64_mul(D(a), D(b)).v; }
uint64_t __divdf3(uint64_t a, uint64_t b) { return f64_div(D(a), D(b)).v; }
uint64_t __extendsfdf2(uint32_t a) { return f32_to_f64(S(a)).v; }
uint32_t __truncdfsf2(uint64_t a) { return f64_to_f32(D(a)).v; }
uint32_t __fixunssfsi(uint32_t a) { return f32_to_ui32_r_minMag(S(a), false); }
int32_t __fixdfsi(uint64_t a) { return f64_to_i32_r_minMag(D(a), false); }
uint32_t __fixunsdfsi(uint64_t a) { return f64_to_ui32_r_minMag(D(a), false); }
uint32_t __floatsisf(int32_t a) { return i32_to_f32(a).v; }
uint32_t __floatunsisf(uint32_t a) { return ui32_to_f32(a).v; }
uint64_t __floatsidf(int32_t a) { return i32_to_f64(a).v; }
uint64_t __floatunsidf(uint32_t a) { return ui32_to_f64(a).v; }

uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest);

uint64_t __udivdi3(uint64_t a, uint64_t b) { return __udivmoddi4(a, b, 0); }

uint64_t __umoddi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    __udivmoddi4(a, b, &rest);
    return rest;
}

/* lx106 has no division, and multiplies 32 bits by 32 to 32. */
static uint32_t divide(uint32_t a, uint32_t b, uint32_t *rest) {
    uint32_t quotient = 0;
    if (b == 0) __builtin_trap();
    if (a >= b) {
        int shift = __builtin_clz(b) - __builtin_clz(a);
        for (b <<= shift; shift >= 0; shift--, b >>= 1) {
            quotient <<= 1;
            if (a >= b) {
                a -= b;
                quotient |= 1;
            }
        }
    }
    *rest = a;
    return quotient;
}

uint32_t __udivsi3(uint32_t a, uint32_t b) {
    uint32_t rest;
    return divide(a, b, &rest);
}

uint32_t __umodsi3(uint32_t a, uint32_t b) {
    uint32_t rest;
    divide(a, b, &rest);
    return rest;
}

int32_t __divsi3(int32_t a, int32_t b) {
    uint32_t quotient = __udivsi3(a < 0 ? -(uint32_t)a : (uint32_t)a, b < 0 ? -(uint32_t)b : (uint32_t)b);
    return (int32_t)((a < 0) != (b < 0) ? -quotient : quotient);
}

uint64_t __umulsidi3(uint32_t a, uint32_t b) {
    uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
    uint32_t low = a0 * b0, middle = a1 * b0 + (low >> 16), other = a0 * b1 + (middle & 0xffff);
    uint32_t high = a1 * b1 + (middle >> 16) + (other >> 16);
    return (uint64_t)high << 32 | other << 16 | (low & 0xffff);
}

uint64_t __muldi3(uint64_t a, uint64_t b) {
    uint32_t high = (uint32_t)a * (uint32_t)(b >> 32) + (uint32_t)(a >> 32) * (uint32_t)b;
    return __umulsidi3((uint32_t)a, (uint32_t)b) + ((uint64_t)high << 32);
}
