/* The writer's sink, and containers whose number of entries is known only at their end. */
#include "dn_avr.h"
#include "dn_internal.h"

#include <string.h>

/* Passes the first `n` bytes of the chunk to `take`. */
static bool flush(dn_sink *sink, size_t n)
{
    dn_writer *w = &sink->writer;
    if (n == 0) return true;
    if (!sink->take(sink->context, w->start, n)) {
        w->error = DN_TRUNCATED;
        return false;
    }
    sink->taken += n;
    w->past += n;
    size_t kept = (size_t)(w->at - w->start) - n;
    memmove(w->start, w->start + n, kept);
    w->at = w->start + kept;
    /* The chunk ends where the largest message ends, so that no other code has to check that limit. */
    size_t allowed = DN_MESSAGE_MAX - w->past;
    w->end = w->start + (sink->size < allowed ? sink->size : allowed);
    return true;
}

/* Passes all bytes before the outermost open container to `take`. Returns whether `n` bytes then fit. */
static bool make_room(dn_sink *sink, size_t n)
{
    dn_writer *w = &sink->writer;
    if (w->error) return false;
    return flush(sink, sink->hold ? sink->hold - 1 - w->past : (size_t)(w->at - w->start)) && dn__left(w) >= n;
}

/* `spill` of dn_writer. A block goes through the chunk in pieces, and may be longer than it. */
static bool spill(dn_writer *w, const void *data, size_t size, uint8_t type)
{
    if (!type) return make_room((dn_sink *)w, size);
    const uint8_t *from = (const uint8_t *)data;
    dn__write_header(w, (uint32_t)size, type & 0xe0);
    while (size) {
        if (!dn__room(w, 1)) {
            dn__room(w, size - 1);
            return false;
        }
        size_t piece = dn__left(w);
        if (piece > size) piece = size;
        size -= piece;
        w->at = dn__copy_from(w->at, &from, piece, type & DN__IN_FLASH);
    }
    return true;
}

void dn_sink_init(dn_sink *sink, void *chunk, size_t size, dn_sink_fn take, void *context)
{
    dn_writer_init(&sink->writer, chunk, size);
    sink->writer.spill = spill;
    sink->take = take;
    sink->context = context;
    sink->size = dn__size(&sink->writer);
    sink->taken = 0;
    sink->hold = 0;
}

/* Ends the message with an error; the bytes written so far still count. */
static void fail(dn_writer *w, dn_error kind)
{
    w->error = kind;
    w->end = w->at;
}

bool dn_sink_finish(dn_sink *sink)
{
    dn_writer *w = &sink->writer;
    if (w->error) return false;
    if (sink->hold) fail(w, DN_WRONG_TYPE); /* a container is still open */
    else if (!flush(sink, (size_t)(w->at - w->start))) w->end = w->at;
    return !w->error;
}

/* ---- Open containers --------------------------------------------------------------------------------------------------------- */

size_t dn__open(dn_writer *w, uint8_t header)
{
    size_t opened = dn_written(w);
    dn__write_byte(w, header);
    if (w->spill) {
        dn_sink *sink = (dn_sink *)w;
        if (!sink->hold) sink->hold = opened + 1;
    }
    return opened;
}

size_t dn_write_map_open(dn_writer *w) { return dn__open(w, DN__HEAD_MAP); }

size_t dn_write_array_open(dn_writer *w) { return dn__open(w, DN__HEAD_ARRAY); }

void dn_write_close(dn_writer *w, size_t opened, uint32_t count)
{
    uint8_t varint[5];
    uint8_t extra = 0;
    if (count > 30) {
        uint32_t n = count;
        for (; n >= 0x80; n >>= 7) varint[extra++] = (uint8_t)(n | 0x80);
        varint[extra++] = (uint8_t)n;
    }
    if (!dn__room(w, extra) || w->error || !w->start) return;
    /* Computed only now, because dn__room may have passed earlier bytes to the sink. */
    size_t index = opened - w->past;
    size_t written = (size_t)(w->at - w->start);
    if (index >= written || (w->start[index] & 0x9f) != DN__HEAD_TEXT) {
        fail(w, DN_WRONG_TYPE); /* not an open container */
        return;
    }
    uint8_t *header = w->start + index;
    if (extra) {
        memmove(header + 1 + extra, header + 1, written - index - 1);
        memcpy(header + 1, varint, extra);
        w->at += extra;
    }
    *header = (uint8_t)(*header | (extra ? 31 : count));
    if (w->spill) {
        dn_sink *sink = (dn_sink *)w;
        if (sink->hold == opened + 1) sink->hold = 0;
    }
}
