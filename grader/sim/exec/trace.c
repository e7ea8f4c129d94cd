/* trace.c - records what warps executed, for the time model. Accesses are in trace_access.c. */
#include "sim/exec/trace.h"
#include "sim/base/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

static bool grow(void **array, int *room, int needed, size_t size)
{
    int now = *room ? *room : 16; /* a block has many traces: small ones stay in the caches */
    void *more;

    while (now < needed)
        now *= 2;
    more = realloc(*array, (size_t) now * size);
    if (!more)
        return false;
    *array = more;
    *room = now;
    return true;
}

bool trace_make_room(Trace *trace, int runs, int words)
{
    return (runs <= trace->run_room ||
            grow((void **) &trace->runs, &trace->run_room, runs, sizeof *trace->runs)) &&
           (words <= trace->word_room ||
            grow((void **) &trace->words, &trace->word_room, words, sizeof *trace->words));
}

void trace_clear(BlockTrace *block)
{
    for (int i = 0; i < block->warp_count; i++) {
        block->warps[i].run_count = block->warps[i].word_count = 0;
        block->warps[i].wavefronts = 0;
        block->warps[i].code = NULL;
        block->warps[i].row = NULL;
    }
    block->incomplete = block->wants_digest = block->has_digest = false;
    block->next = NULL;
}

void trace_free(BlockTrace *block)
{
    if (!block)
        return;
    for (int i = 0; block->warps && i < block->warp_count; i++) {
        free(block->warps[i].runs);
        free(block->warps[i].words);
    }
    free(block->warps);
    free(block);
}

/* ---- Work ---- */

static uint64_t instructions_of(const Trace *trace)
{
    uint64_t sum = 0;

    for (int i = 0; i < trace->run_count; i++)
        sum += trace->runs[i].count;
    return sum;
}

size_t trace_bytes(const BlockTrace *block)
{
    size_t bytes = 0;

    for (int i = 0; i < block->warp_count; i++)
        bytes += (size_t) block->warps[i].run_count * sizeof *block->warps->runs +
                 (size_t) block->warps[i].word_count * sizeof *block->warps->words;
    return bytes;
}

void trace_work(BlockTrace *block)
{
    BlockWork work = { { 0 } };

    for (int i = 0; i < block->warp_count; i++) {
        const Trace *trace = &block->warps[i];
        const double instructions = (double) instructions_of(trace);
        work.of[WORK_INSTRUCTIONS] += instructions;
        work.of[WORK_LONGEST] = fmax(work.of[WORK_LONGEST], instructions);
        work.of[WORK_MOVED] += (double) trace->word_count + (double) trace->wavefronts;
    }
    block->work = work;
}

/* ---- Steps ---- */

static int function_of(const Warp *warp)
{
    const Module *module = warp->code->module;

    return warp->frame ? (int) (warp->code->function - module->functions) : -1;
}

static uint32_t frame_of(const Warp *warp)
{
    return (uint32_t) (warp->frame < TRACED_FRAMES ? warp->frame : TRACED_FRAMES);
}

static inline __attribute__((always_inline)) void begin_run(Warp *warp, int pc, int count,
                                                            bool skipped, unsigned lanes)
{
    Trace *trace = warp->trace;

    if (trace->run_count == trace->run_room &&
        !grow((void **) &trace->runs, &trace->run_room, trace->run_count + 1, sizeof(TraceRun))) {
        warp->block->trace->incomplete = true;
        trace->code = NULL;
        return;
    }
    trace_ask(trace->runs + trace->run_count);
    trace->runs[trace->run_count++] = (TraceRun){ .first = (uint32_t) pc,
                                                  .function = function_of(warp),
                                                  .frame = frame_of(warp),
                                                  .count = (uint16_t) count,
                                                  .skipped = skipped,
                                                  .lanes = (uint8_t) lanes };
    trace->code = warp->code;
    trace->next = (uint32_t) (pc + count);
    trace->active = warp->active;
    trace->skipped = skipped;
}

void trace_run(Warp *warp, int pc, bool skipped)
{
    begin_run(warp, pc, 1, skipped, lanes_in(warp->active));
}

/* How many steps from this one on belong to the last run. */
static int room_in_run(const Warp *warp, int pc)
{
    const Trace *trace = warp->trace;

    return trace->code == warp->code && trace->next == (uint32_t) pc && !trace->skipped &&
                   trace->active == warp->active
               ? UINT16_MAX - trace->runs[trace->run_count - 1].count
               : 0;
}

void trace_row(Warp *warp, const Step *end)
{
    Trace *trace = warp->trace;
    int pc = (int) (trace->row - warp->code->steps), left = (int) (end - trace->row);

    if (left <= 0)
        return;
    trace->row = end;
    for (int count; left > 0; left -= count, pc += count) {
        const int room = room_in_run(warp, pc), most = room ? room : UINT16_MAX;
        count = most < left ? most : left;
        if (!room) {
            begin_run(warp, pc, count, false, LANES);
            continue;
        }
        trace->runs[trace->run_count - 1].count += (uint16_t) count;
        trace->next += (uint32_t) count;
    }
}
