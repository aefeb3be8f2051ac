/* Compresses and decompresses `message`, with zlib or miniz, and reports the bytes and the heap of each. BITS and LEVEL are zlib's windowBits and
 * memLevel; what the rig generates defines them and has the message. */
/* miniz sorts on the stack. */
#define PAINTED 16384
#include "measure.h"

#define HEAP_SIZE 400000
#include "heap.h"

#ifdef MINIZ
#include "miniz.h"
#else
#include "zlib.h"
#define mz_stream z_stream
#define mz_deflateInit2 deflateInit2
#define mz_deflate deflate
#define mz_inflateInit2 inflateInit2
#define mz_inflate inflate
#define MZ_DEFLATED Z_DEFLATED
#define MZ_FINISH Z_FINISH
#define MZ_STREAM_END Z_STREAM_END
#define MZ_DEFAULT_STRATEGY Z_DEFAULT_STRATEGY
#define MZ_OK Z_OK
#endif
#include "zlib_message.h"

#define NOINLINE static __attribute__((noinline, noclone, unused))

static uint8_t compressed[256], restored[256];

static void *take(void *context, ALLOCATED count, ALLOCATED size) {
    (void)context;
    return heap_take((size_t)count * size);
}

static void give(void *context, void *at) { (void)context, (void)at; }

/* Resets the heap. */
static mz_stream stream(const uint8_t *from, size_t size, uint8_t *to, size_t room) {
    mz_stream s;
    memset(&s, 0, sizeof s);
    s.zalloc = take;
    s.zfree = give;
    s.next_in = (void *)from;
    s.avail_in = (unsigned)size;
    s.next_out = to;
    s.avail_out = (unsigned)room;
    heap_reset();
    return s;
}

NOINLINE size_t compress_to(const uint8_t *from, size_t size, uint8_t *to, size_t room) {
    mz_stream s = stream(from, size, to, room);
    if (mz_deflateInit2(&s, 9, MZ_DEFLATED, BITS, LEVEL, MZ_DEFAULT_STRATEGY) != MZ_OK) return 0;
    return mz_deflate(&s, MZ_FINISH) == MZ_STREAM_END ? (size_t)s.total_out : 0;
}

NOINLINE size_t restore_to(const uint8_t *from, size_t size, uint8_t *to, size_t room) {
    mz_stream s = stream(from, size, to, room);
    if (mz_inflateInit2(&s, BITS) != MZ_OK) return 0;
    return mz_inflate(&s, MZ_FINISH) == MZ_STREAM_END ? (size_t)s.total_out : 0;
}

void measure_all(void);

void measure_all(void) {
    const uint8_t *from = message;
    uint8_t *to = compressed, *again = restored;
    size_t size = sizeof message, bytes = 0, after = 0;
    HIDE(from);
    HIDE(to);
    HIDE(again);
    HIDE(size);
#ifdef COMPRESSES
    MEASURE(0, bytes = compress_to(from, size, to, sizeof compressed));
#endif
    fold_bytes(to, bytes);
    fold_u32(heap_used());
    HIDE(bytes);
#ifdef RESTORES
    MEASURE(1, after = restore_to(to, bytes, again, sizeof restored));
#endif
    fold_bytes(again, after);
    fold_u32(heap_used());
}
