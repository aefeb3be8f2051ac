/* The writer's sink, and containers whose count is known only at their end. */
#include "dn_internal.h"

#include <string.h>

/* Hands on the first `n` bytes of the chunk. */
static bool hand_on(dn_sink *sink, size_t n)
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
    /* The chunk ends where the largest message does, so that nothing else has to look at that limit. */
    size_t allowed = DN_MESSAGE_MAX - w->past;
    w->end = w->start + (sink->size < allowed ? sink->size : allowed);
    return true;
}

/* dn_writer's `spill`: hands on all that is before an open container. */
static bool spill(dn_writer *w)
{
    dn_sink *sink = (dn_sink *)w;
    return hand_on(sink, sink->hold ? sink->hold - 1 - w->past : (size_t)(w->at - w->start));
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

/* Ends the message with an error; what was written goes on to count. */
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
    else if (!hand_on(sink, (size_t)(w->at - w->start))) dn__count(w, 0);
    return !w->error;
}

/* ---- Open containers --------------------------------------------------------------------------------------------------------- */

size_t dn__open(dn_writer *w, uint8_t header)
{
    size_t opened = dn_written(w);
    dn__put(w, header);
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
    uint8_t extra = count > 30 ? (uint8_t)(dn__varint(varint, count) - varint) : 0;
    if (!dn__room(w, extra) || w->error || !w->start) return;
    /* Only now, as the sink may have taken what was before. */
    size_t index = opened - w->past;
    size_t written = (size_t)(w->at - w->start);
    if (index >= written || (w->start[index] & 0x9f) != DN__HEAD_TEXT) {
        fail(w, DN_WRONG_TYPE); /* no container that is open */
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
