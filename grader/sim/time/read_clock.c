/* read_clock.c - what a kernel reads from %clock64 while time is modelled.
 *
 * A block is played only when it has ended, but a kernel needs the value at once. So each warp that
 * reads a clock has an estimate of its own: the steps of its trace up to here are issued in order,
 * each when its operands are ready, as if no other warp competed with it. Caches of the estimate
 * only hold tags. Other resident warps count in one way: no pipe can have done more than its width
 * allows if all of them did the same. The launch's time does not depend on these estimates.
 */
#include "sim/time/model.h"

#include <stdlib.h>

struct WarpClock {
    PlayedWarp *warp;
    size_t word;           /* the next access of the trace */
    uint64_t now, counted; /* the last cycle of issue; of the previous read */
    uint64_t delay;        /* cycles in which pipes were busy for other warps */
    uint64_t busy[PIPES];  /* cycles since the previous read */
};

/* ---- Caches ---- */

bool clock_open(Clocks *clocks, Gpu *gpu, int block_warps, int warps_per_sm, double l1_bytes)
{
    *clocks = (Clocks){
        .gpu = gpu, .block_warps = block_warps, .warps_per_sm = warps_per_sm, .sm = { .gpu = gpu }
    };
    return cache_open(&clocks->l1, l1_bytes, gpu->device.l1_ways) &&
           cache_copy(&clocks->l2, &gpu->memory.l2);
}

void clock_close(Clocks *clocks)
{
    while (clocks->sm.spare) {
        PlayedWarp *warp = clocks->sm.spare;
        clocks->sm.spare = warp->next_spare;
        warp_free(warp);
    }
    plan_use_clear(&clocks->sm.plans);
    cache_close(&clocks->l1);
    cache_close(&clocks->l2);
}

/* Adds the sectors to the line. Returns whether all of them were there. */
static bool is_there(Cache *cache, uint64_t number, unsigned sectors)
{
    CacheLine displaced;
    bool is_new;
    CacheLine *line = cache_line(cache, number, &is_new, &displaced);
    const bool there = (line->valid & sectors) == sectors;

    line->valid |= (uint8_t) sectors;
    return there;
}

static uint64_t line_latency(Clocks *clocks, TraceKind kind, uint64_t word)
{
    const Device *device = &clocks->gpu->device;
    const uint64_t number = trace_number(word);
    const unsigned sectors = trace_sectors(word);
    const bool updates = kind == TRACE_ATOMIC || kind == TRACE_INTEGER_ATOMIC;

    if (kind == TRACE_LOCAL_STORE || (!updates && is_there(&clocks->l1, number, sectors)))
        return l1_latency(device, word);
    if (kind == TRACE_STORE)
        return (uint64_t) device->store_latency;
    if (trace_is_on_host(number))
        return (uint64_t) device->link_latency;
    const bool hit = is_there(&clocks->l2, number, sectors);
    const uint64_t cycles =
        updates ? memory_up(memory_atomic_cycles(&clocks->gpu->memory, kind, word)) : 0;
    return cycles + (uint64_t) (hit ? device->l2_latency : device->memory_latency);
}

/* ---- Steps ---- */

/* Returns when the value of an access that is issued at `now` has arrived. */
static uint64_t access_result(Clocks *clocks, const uint64_t *words, uint64_t now)
{
    const Device *device = &clocks->gpu->device;
    const TraceKind kind = trace_kind(*words);
    uint64_t there = now;

    if (kind == TRACE_SHARED)
        return now + trace_wavefronts(*words) - 1 + (uint64_t) device->shared_latency;
    for (int i = 0; i < trace_following(*words); i++)
        there = later(there, now + (uint64_t) (i / device->l1_lines) +
                                 line_latency(clocks, kind, words[1 + i]));
    return there;
}

static uint64_t accesses_result(Clocks *clocks, PlayedWarp *w, uint64_t now)
{
    uint64_t there = now + w->step->operation->latency;

    for (int i = 0; i < w->step->accesses; i++) {
        const uint64_t *words = w->access[w->step->access + i];
        const TraceKind kind = trace_kind(*words);
        const uint64_t at = access_result(clocks, words, now);
        if (kind != TRACE_SHARED && kind != TRACE_LOAD && kind != TRACE_LOCAL_STORE)
            w->stored = later(w->stored, at);
        there = i ? later(there, at) : at;
    }
    return there;
}

/* As long as if all warps of the block, and no other, arrived now (barriers.c). */
static uint64_t barrier_cycles(const Clocks *clocks, const Operation *o)
{
    const Device *device = &clocks->gpu->device;
    const int warps = clocks->block_warps * (o->votes ? 2 : 1);

    return (uint64_t) (o->latency + warps * device->barrier_warp_cycles +
                       (o->votes ? device->vote_latency : 0));
}

static void issue(Clocks *clocks, struct WarpClock *clock)
{
    PlayedWarp *w = clock->warp;
    const Operation *o = w->step->operation;
    const uint64_t now = warp_wakes_at(w), busy = o->busy;
    uint64_t result = now + busy - o->cycles + o->latency;

    clock->now = now;
    clock->busy[o->pipe] += busy;
    w->next = now + o->issues;
    if (w->step->skipped)
        return;
    switch ((Action) o->action) {
    case DO_BRANCH:
        w->next = now + o->latency;
        break;
    case DO_BARRIER:
        w->next = now + barrier_cycles(clocks, o);
        break;
    case DO_SEQUENCE:
        w->next = result;
        break;
    case DO_FENCE:
        w->next = later(w->next, w->stored);
        break;
    case DO_ACCESS:
        result = accesses_result(clocks, w, now);
        break;
    case DO_COPY:
        w->copied = later(w->copied, accesses_result(clocks, w, now));
        break;
    case DO_COMMIT:
        warp_commit(&clocks->sm, w);
        break;
    case DO_WAIT:
        w->next = later(w->next,
                        later(warp_groups_there(&clocks->sm, w, o->keep), o->keep ? 0 : w->copied));
        break;
    default:
        break;
    }
    warp_set_result(&clocks->sm, w, result, o);
}

/* ---- Clocks ---- */

static struct WarpClock *clock_of(Clocks *clocks, Trace *trace, uint64_t begins)
{
    struct WarpClock *clock = trace->clock;

    if (clock)
        return clock;
    clock = calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    clock->warp = warp_new(&clocks->sm);
    if (!clock->warp) {
        free(clock);
        return NULL;
    }
    clock->now = clock->counted = clock->warp->next = begins;
    trace->clock = clock;
    return clock;
}

/* A function called since the last read may need more registers. Returns false if out of memory. */
static bool has_registers(const Clocks *clocks, struct WarpClock *clock)
{
    PlayedWarp *w = clock->warp;
    const int room = w->registers_room, registers = clocks->gpu->registers;

    if (room >= registers)
        return true;
    w = realloc(w, sizeof *w + (size_t) registers * sizeof *w->value);
    if (!w)
        return false;
    for (int i = room; i < registers; i++)
        w->value[i] = (Value){ 0 };
    w->registers_room = registers;
    clock->warp = w;
    return true;
}

/* The cycles since the last read that the busiest pipe needs for all resident warps. */
static uint64_t least_cycles(const Clocks *clocks, const struct WarpClock *clock)
{
    const int schedulers = clocks->gpu->device.schedulers_per_sm;
    const uint64_t warps = (uint64_t) clocks->warps_per_sm;
    const uint64_t share = (warps + (uint64_t) schedulers - 1) / (uint64_t) schedulers;
    uint64_t most = 0;

    for (int i = 0; i < PIPES; i++)
        most = later(most, clock->busy[i] * (i == PIPE_LSU ? warps : share));
    return most;
}

static uint64_t read_clock(Clocks *clocks, struct WarpClock *clock)
{
    const uint64_t alone = clock->now - clock->counted, least = least_cycles(clocks, clock);

    clock->delay += least > alone ? least - alone : 0;
    clock->counted = clock->now;
    for (int i = 0; i < PIPES; i++)
        clock->busy[i] = 0;
    return clock->now + clock->delay;
}

uint64_t clock_read(Clocks *clocks, Trace *trace, uint64_t begins)
{
    struct WarpClock *clock = clock_of(clocks, trace, begins);

    if (!clock || !has_registers(clocks, clock))
        return begins;
    /* The warp's plan is as long as its trace is now; later steps begin a run. */
    trace->code = NULL;
    PlayedWarp *w = clock->warp;
    w->trace = trace;
    w->word = trace->words + clock->word;
    warp_forget_kept(w); /* the words may have moved */
    while (warp_find_step(&clocks->sm, w)) {
        issue(clocks, clock);
        w->step++;
    }
    clock->word = (size_t) (w->word - trace->words);
    return read_clock(clocks, clock);
}

void clock_forget_warp(Clocks *clocks, Trace *trace)
{
    struct WarpClock *clock = trace->clock;

    if (!clock)
        return;
    clock->warp->next_spare = clocks->sm.spare;
    clocks->sm.spare = clock->warp;
    free(clock);
    trace->clock = NULL;
}
