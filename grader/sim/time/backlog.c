/* backlog.c - the traces of a launch, one right after the other. */
#include "sim/time/backlog.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_EVENTS = 64, FIRST_BYTES = 1 << 14 };

/* In front of the words and the runs of each warp. Zeros after them fill a word. */
typedef struct BacklogWarp {
    int runs, words;
    uint64_t wavefronts;
} BacklogWarp;

static size_t whole_words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static bool add_event(Backlog *kept, BacklogEvent event)
{
    if (kept->count == kept->room) {
        const long room = kept->room ? 2 * kept->room : FIRST_EVENTS;
        BacklogEvent *more = realloc(kept->events, (size_t) room * sizeof *more);
        if (!more)
            return false;
        kept->events = more;
        kept->room = room;
    }
    kept->events[kept->count++] = event;
    return true;
}

bool backlog_begin(Backlog *kept, const BlockTrace *trace, const BlockStart *start)
{
    return add_event(kept, (BacklogEvent){ .start = *start, .block = trace->block });
}

static size_t bytes_of(const BlockTrace *trace)
{
    size_t bytes = 0;

    for (int i = 0; i < trace->warp_count; i++)
        bytes += sizeof(BacklogWarp) + (size_t) trace->warps[i].word_count * sizeof(uint64_t) +
                 whole_words((size_t) trace->warps[i].run_count * sizeof(TraceRun));
    return bytes;
}

static bool make_room(Backlog *kept, size_t bytes, size_t most)
{
    size_t size = kept->size ? kept->size : FIRST_BYTES;
    unsigned char *more;

    if (kept->used + bytes > most)
        return false;
    if (kept->used + bytes <= kept->size)
        return true;
    while (size < kept->used + bytes)
        size *= 2;
    more = realloc(kept->bytes, size);
    if (!more)
        return false;
    kept->bytes = more;
    kept->size = size;
    return true;
}

static unsigned char *put_warp(unsigned char *to, const Trace *trace)
{
    const BacklogWarp head = { trace->run_count, trace->word_count, trace->wavefronts };
    const size_t words = (size_t) head.words * sizeof *trace->words;
    const size_t runs = (size_t) head.runs * sizeof *trace->runs;

    memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (words)
        memcpy(to, trace->words, words);
    to += words;
    if (runs)
        memcpy(to, trace->runs, runs);
    return to + whole_words(runs);
}

bool backlog_end(Backlog *kept, const BlockTrace *trace, size_t most)
{
    const size_t bytes = bytes_of(trace);
    unsigned char *to;

    if (!make_room(kept, bytes, most) ||
        !add_event(kept, (BacklogEvent){ .block = trace->block, .at = kept->used, .ended = true }))
        return false;
    to = kept->bytes + kept->used;
    for (int i = 0; i < trace->warp_count; i++)
        to = put_warp(to, &trace->warps[i]);
    kept->used += bytes;
    return true;
}

/* Returns what follows; NULL: out of memory. */
static const unsigned char *get_warp(const unsigned char *from, Trace *trace)
{
    BacklogWarp head;
    size_t words, runs;

    memcpy(&head, from, sizeof head);
    from += sizeof head;
    words = (size_t) head.words * sizeof *trace->words;
    runs = (size_t) head.runs * sizeof *trace->runs;
    if (!trace_make_room(trace, head.runs, head.words))
        return NULL;
    if (words)
        memcpy(trace->words, from, words);
    if (runs)
        memcpy(trace->runs, from + words, runs);
    trace->word_count = head.words;
    trace->run_count = head.runs;
    trace->wavefronts = head.wavefronts;
    return from + words + whole_words(runs);
}

bool backlog_get(const Backlog *kept, const BacklogEvent *event, BlockTrace *trace)
{
    const unsigned char *from = kept->bytes + event->at;

    for (int i = 0; i < trace->warp_count && from; i++)
        from = get_warp(from, &trace->warps[i]);
    return from;
}

/* The bytes of the first `count` events. */
static size_t bytes_before(const Backlog *kept, long count)
{
    for (; count < kept->count; count++)
        if (kept->events[count].ended)
            return kept->events[count].at;
    return kept->used;
}

bool backlog_copy(Backlog *kept, const Backlog *from, long count)
{
    const size_t bytes = bytes_before(from, count);

    if (!make_room(kept, bytes, bytes))
        return false;
    for (long i = 0; i < count; i++)
        if (!add_event(kept, from->events[i]))
            return false;
    if (bytes)
        memcpy(kept->bytes, from->bytes, bytes);
    kept->used = bytes;
    return true;
}

bool backlog_add(Backlog *kept, const Backlog *begun)
{
    for (long i = 0; i < begun->count; i++)
        if (!add_event(kept, begun->events[i]))
            return false;
    return true;
}

void backlog_trim(Backlog *kept)
{
    void *events = realloc(kept->events, (size_t) kept->count * sizeof *kept->events);
    void *bytes = kept->used ? realloc(kept->bytes, kept->used) : NULL;

    if (events) {
        kept->events = events;
        kept->room = kept->count;
    }
    if (bytes) {
        kept->bytes = bytes;
        kept->size = kept->used;
    }
}

size_t backlog_bytes(const Backlog *kept)
{
    return (size_t) kept->room * sizeof *kept->events + kept->size;
}

void backlog_free(Backlog *kept)
{
    free(kept->events);
    free(kept->bytes);
    *kept = (Backlog){ .events = NULL };
}
