/* The stdint.h of a C library that defines the macros for C++ only when a program asks for them, as avr-libc and newlib do for C++98.
 * standards.sh puts it before the compiler's own. */
#include_next <stdint.h>

#undef INT8_MAX
#undef INT16_MAX
#undef INT32_MAX
#undef INT64_MAX
#undef INT8_MIN
#undef INT16_MIN
#undef INT32_MIN
#undef INT64_MIN
#undef UINT8_MAX
#undef UINT16_MAX
#undef UINT32_MAX
#undef UINT64_MAX
#undef INTPTR_MAX
#undef INTPTR_MIN
#undef UINTPTR_MAX
#undef INTMAX_MAX
#undef INTMAX_MIN
#undef UINTMAX_MAX
#undef PTRDIFF_MAX
#undef PTRDIFF_MIN
#undef SIZE_MAX
#undef INT8_C
#undef INT16_C
#undef INT32_C
#undef INT64_C
#undef UINT8_C
#undef UINT16_C
#undef UINT32_C
#undef UINT64_C
#undef INTMAX_C
#undef UINTMAX_C
