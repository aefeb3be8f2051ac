/* mpack as firmware would configure it: the writer and the reader, without heap, files and debug checks. */
#define MPACK_READER 1
#define MPACK_WRITER 1
#define MPACK_EXPECT 0
#define MPACK_NODE 0
#define MPACK_STDLIB 0
#define MPACK_STDIO 0
#define MPACK_DEBUG 0
#define MPACK_STRINGS 0
#define MPACK_READ_TRACKING 0
#define MPACK_WRITE_TRACKING 0
#define MPACK_OPTIMIZE_FOR_SIZE 1

/* mpack refuses to compile where double has 32 bits. It works there as long as no binary64 is read or written. */
#if defined(__AVR__)
#define MPACK_STATIC_ASSERT(condition, text) ((void)0)
#endif
