/* How Berkeley SoftFloat is built for lx106, in place of its platform.h. */
#define LITTLEENDIAN 1
#define INLINE static inline
#define THREAD_LOCAL
#define SOFTFLOAT_FAST_INT64
