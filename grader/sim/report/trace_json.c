/* trace_json.c - writes a trace as Chrome's JSON events, which Perfetto reads.
 *
 * All slices are asynchronous ("b" and "e"): slices with the same category and id form one track,
 * where they may only follow each other or be nested. Kernels, blocks and warps overlap in time, so
 * each gets a track that is free when it begins. Times are in microseconds; `cycles` in a slice's
 * arguments is exact.
 */
#include "sim/report/trace_data.h"
#include "sim/report/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROCESS_STREAMS = 1,
    PROCESS_ENGINES = 2,
    PROCESS_SM = 100, /* the first SM's */
    MOST_TRACKS = 64  /* side by side; beyond that, slices share the last one */
};

typedef struct Writer {
    FILE *out;
    Traced *traced;
    double cycle_ps;
    bool any; /* an event was written, so the next one follows a comma */
} Writer;

typedef unsigned long long ull;

/* ---- Events ---- */

static void begin_event(Writer *w, char kind, const char *category, const char *id, int process,
                        int64_t ps)
{
    fprintf(w->out, "%s{\"ph\":\"%c\",\"cat\":\"%s\",\"id\":\"%s\",\"pid\":%d,\"tid\":0,\"ts\":",
            w->any ? ",\n" : "", kind, category, id, process);
    fprintf(w->out, "%lld.%06lld", (long long) ps / 1000000, (long long) ps % 1000000);
    w->any = true;
}

static void slice_begins(Writer *w, const char *category, const char *id, int process, int64_t ps,
                         const char *name)
{
    begin_event(w, 'b', category, id, process, ps);
    fputs(",\"name\":", w->out);
    json_string(w->out, name);
}

static void slice_ends(Writer *w, const char *category, const char *id, int process, int64_t ps)
{
    begin_event(w, 'e', category, id, process, ps);
    fputs("}", w->out);
}

static void name_process(Writer *w, int process, const char *name)
{
    fprintf(w->out,
            "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":",
            w->any ? ",\n" : "", process);
    json_string(w->out, name);
    fprintf(w->out,
            "}},\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_sort_index\","
            "\"args\":{\"sort_index\":%d}}",
            process, process);
    w->any = true;
}

/* ---- Tracks: the first one that is free when a slice begins ---- */

typedef struct Tracks {
    int64_t free_at[MOST_TRACKS];
} Tracks;

static int free_track(Tracks *tracks, int64_t begin, int64_t end)
{
    int i = 0;

    while (i < MOST_TRACKS - 1 && tracks->free_at[i] > begin)
        i++;
    tracks->free_at[i] = end;
    return i;
}

/* ---- Places in time ---- */

static int64_t ps_of(const Writer *w, int launch, uint64_t cycle)
{
    return w->traced->launches[launch].start_ps + llround((double) cycle * w->cycle_ps);
}

/* The launch's kernel on the timeline; NULL: it is not there. */
static const TimelineSpan *span_of(const TimelineSpan *spans, long count, uint64_t tag)
{
    for (long i = 0; i < count; i++)
        if (spans[i].row == ROW_KERNEL && spans[i].tag == tag)
            return &spans[i];
    return NULL;
}

static void place_launches(Writer *w, const TimelineSpan *spans, long count)
{
    Tracks lanes = { { 0 } };
    int64_t next = 0;

    for (int i = 0; i < w->traced->launch_count; i++) {
        TracedLaunch *launch = &w->traced->launches[i];
        const TimelineSpan *span = span_of(spans, count, launch->tag);
        launch->start_ps = span ? span->start_ps : next;
        next = ps_of(w, i, launch->cycles);
        launch->lane = free_track(&lanes, launch->start_ps, next);
    }
}

/* By launch, then by block, warp and time. */
#define DIFFERENCE(a, b, member)                                                                   \
    if ((a)->member != (b)->member)                                                                \
    return (a)->member < (b)->member ? -1 : 1

static int by_begin(const void *left, const void *right)
{
    const TracedBlock *a = left, *b = right;

    DIFFERENCE(a, b, launch);
    DIFFERENCE(a, b, begin);
    DIFFERENCE(a, b, block);
    return 0;
}

static int by_block(const void *left, const void *right)
{
    const TracedBlock *a = left, *b = right;

    DIFFERENCE(a, b, launch);
    DIFFERENCE(a, b, block);
    return 0;
}

static int by_warp(const void *left, const void *right)
{
    const TracedWarp *a = left, *b = right;

    DIFFERENCE(a, b, launch);
    DIFFERENCE(a, b, block);
    DIFFERENCE(a, b, warp);
    return 0;
}

static int by_wait(const void *left, const void *right)
{
    const TracedWait *a = left, *b = right;

    DIFFERENCE(a, b, launch);
    DIFFERENCE(a, b, block);
    DIFFERENCE(a, b, warp);
    DIFFERENCE(a, b, begin);
    return 0;
}

/* Gives each block a slot of its SM; afterwards the blocks are in the order of their numbers. */
static bool place_blocks(Traced *traced, int sms)
{
    Tracks *slots = calloc((size_t) sms, sizeof *slots);
    int launch = -1;

    if (!slots)
        return false;
    qsort(traced->blocks, (size_t) traced->block_count, sizeof *traced->blocks, by_begin);
    for (int i = 0; i < traced->block_count; i++) {
        TracedBlock *b = &traced->blocks[i];
        if (b->launch != launch)
            memset(slots, 0, (size_t) sms * sizeof *slots);
        launch = b->launch;
        b->slot = free_track(&slots[b->sm], (int64_t) b->begin, (int64_t) b->end);
    }
    qsort(traced->blocks, (size_t) traced->block_count, sizeof *traced->blocks, by_block);
    free(slots);
    return true;
}

/* ---- The timeline: once by stream, once by engine ---- */

static const char *const engine_words[ROWS] = {
    [ROW_UP] = "copy to the device",
    [ROW_KERNEL] = "kernel",
    [ROW_FILL] = "copy or fill on the device",
    [ROW_DOWN] = "copy to the host",
};

static const TracedLaunch *launch_of(const Traced *traced, const TimelineSpan *span)
{
    for (int i = 0; i < traced->launch_count; i++)
        if (span->row == ROW_KERNEL && traced->launches[i].tag == span->tag)
            return &traced->launches[i];
    return NULL;
}

static void put_span(Writer *w, const TimelineSpan *span, const char *category, const char *id,
                     int process)
{
    const TracedLaunch *launch = launch_of(w->traced, span);

    slice_begins(w, category, id, process, span->start_ps,
                 span->row == ROW_KERNEL ? span->name : engine_words[span->row]);
    fprintf(w->out, ",\"args\":{\"stream\":%d", span->stream);
    if (span->row != ROW_KERNEL)
        fprintf(w->out, ",\"bytes\":%.0f", span->bytes);
    else if (launch)
        fprintf(w->out,
                ",\"launch\":%d,\"cycles\":%llu,\"instructions\":%llu,\"blocks\":%ld,\"timed_"
                "blocks\":%ld,"
                "\"grid\":\"%d,%d,%d\",\"block\":\"%d,%d,%d\"",
                (int) (launch - w->traced->launches) + 1, (ull) launch->cycles,
                (ull) launch->instructions, launch->blocks, launch->timed, launch->grid[0],
                launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                launch->block[2]);
    fputs("}}", w->out);
    slice_ends(w, category, id, process, span->end_ps);
}

static void put_spans(Writer *w, const TimelineSpan *spans, long count)
{
    Tracks engines[ROWS] = { 0 };
    char id[80];

    name_process(w, PROCESS_STREAMS, "Streams");
    name_process(w, PROCESS_ENGINES, "Engines");
    for (long i = 0; i < count && i < TRACE_SPANS; i++) {
        const TimelineSpan *span = &spans[i];
        if (span->row >= ROW_MARK)
            continue;
        snprintf(id, sizeof id, "stream %d", span->stream);
        put_span(w, span, "stream", id, PROCESS_STREAMS);
        snprintf(id, sizeof id, "%s %d", row_words[span->row],
                 free_track(&engines[span->row], span->start_ps, span->end_ps));
        put_span(w, span, "engine", id, PROCESS_ENGINES);
    }
}

/* ---- SMs ---- */

static void put_block(Writer *w, const TracedBlock *b)
{
    const int process = PROCESS_SM + b->sm;
    char id[80], name[40];

    snprintf(id, sizeof id, "%d.%d.%d", w->traced->launches[b->launch].lane, b->sm, b->slot);
    snprintf(name, sizeof name, "block %ld", b->block);
    slice_begins(w, "block", id, process, ps_of(w, b->launch, b->begin), name);
    fprintf(w->out, ",\"args\":{\"cycles\":%llu,\"launch\":%d}}", (ull) (b->end - b->begin),
            b->launch + 1);
    slice_ends(w, "block", id, process, ps_of(w, b->launch, b->end));
}

static void put_wait(Writer *w, const TracedWait *wait, const char *id, int process)
{
    slice_begins(w, "warp", id, process, ps_of(w, wait->launch, wait->begin),
                 wait->reason < WAITS ? wait_words[wait->reason] : "other warps that issue");
    fprintf(w->out, ",\"args\":{\"cycles\":%llu,\"line\":%d}}", (ull) (wait->end - wait->begin),
            wait->line);
    slice_ends(w, "warp", id, process, ps_of(w, wait->launch, wait->end));
}

/* Whether all waits of the warp are among these. */
static bool is_complete(const TracedWarp *warp, const TracedWait *waits, int count)
{
    uint64_t sum = warp->issued;

    for (int i = 0; i < count; i++)
        sum += waits[i].end - waits[i].begin;
    return sum == warp->end - warp->begin;
}

static void put_warp(Writer *w, const TracedWarp *warp, const TracedBlock *b,
                     const TracedWait *waits, int count)
{
    const int process = PROCESS_SM + b->sm;
    const bool complete = is_complete(warp, waits, count);
    char id[80], name[60];

    snprintf(id, sizeof id, "%d.%d.%d.%d", w->traced->launches[b->launch].lane, b->sm, b->slot,
             warp->warp);
    snprintf(name, sizeof name, "warp %d of block %ld", warp->warp, warp->block);
    slice_begins(w, "warp", id, process, ps_of(w, warp->launch, warp->begin), name);
    fprintf(w->out, ",\"args\":{\"cycles\":%llu,\"issued\":%llu,\"launch\":%d,\"waits\":%s}}",
            (ull) (warp->end - warp->begin), (ull) warp->issued, warp->launch + 1,
            complete ? "\"shown\"" : "\"left out\"");
    for (int i = 0; complete && i < count; i++)
        put_wait(w, &waits[i], id, process);
    slice_ends(w, "warp", id, process, ps_of(w, warp->launch, warp->end));
}

/* All three tables are in the same order. */
static void put_warps(Writer *w)
{
    const Traced *t = w->traced;
    int block = 0, wait = 0;

    for (int i = 0; i < t->warp_count; i++) {
        const TracedWarp *warp = &t->warps[i];
        const TracedWait of_warp = { .launch = warp->launch,
                                     .block = warp->block,
                                     .warp = warp->warp };
        const TracedBlock of_block = { .launch = warp->launch, .block = warp->block };
        int end;
        while (block < t->block_count && by_block(&t->blocks[block], &of_block) < 0)
            block++;
        while (wait < t->wait_count && by_wait(&t->waits[wait], &of_warp) < 0)
            wait++;
        for (end = wait; end < t->wait_count && t->waits[end].launch == warp->launch &&
                         t->waits[end].block == warp->block && t->waits[end].warp == warp->warp;)
            end++;
        if (block < t->block_count && !by_block(&t->blocks[block], &of_block))
            put_warp(w, warp, &t->blocks[block], &t->waits[wait], end - wait);
        wait = end;
    }
}

static void put_sms(Writer *w, int sms)
{
    Traced *t = w->traced;
    char name[20];

    if (!place_blocks(t, sms))
        return;
    qsort(t->warps, (size_t) t->warp_count, sizeof *t->warps, by_warp);
    qsort(t->waits, (size_t) t->wait_count, sizeof *t->waits, by_wait);
    for (int i = 0; i < sms; i++) {
        snprintf(name, sizeof name, "SM %d", i);
        name_process(w, PROCESS_SM + i, name);
    }
    for (int i = 0; i < t->block_count; i++)
        put_block(w, &t->blocks[i]);
    put_warps(w);
}

void trace_write_json(Traced *traced, const Timeline *timeline, const Device *device, FILE *out)
{
    Writer w = { .out = out, .traced = traced, .cycle_ps = 1e6 / device->sm_mhz };
    long count = 0, total = 0;
    const TimelineSpan *spans = timeline ? timeline_spans(timeline, &count, &total) : NULL;

    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"simulated\":true,\"device\":", out);
    json_string(out, device->name);
    fprintf(out,
            ",\"sm_mhz\":%s,\"lost_launches\":%llu,\"lost_blocks\":%llu,\"lost_warps\":%llu,"
            "\"lost_waits\":%llu,\"lost_spans\":%ld},\n\"traceEvents\":[\n",
            decimal(device->sm_mhz).text, (ull) traced->lost_launches, (ull) traced->lost_blocks,
            (ull) traced->lost_warps, (ull) traced->lost_waits,
            total > TRACE_SPANS ? total - TRACE_SPANS : 0);
    place_launches(&w, spans, count);
    put_spans(&w, spans, count);
    put_sms(&w, device->sms);
    fputs("\n]}\n", out);
}
