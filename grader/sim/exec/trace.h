/* trace.h - what each warp of a block did, kept for the model of time (timing.h).
 *
 * A warp whose `trace` is NULL records nothing, at no cost.
 */
#ifndef SIM_EXEC_TRACE_H
#define SIM_EXEC_TRACE_H

#include "sim/exec/access.h"

/* Steps first .. first + count - 1 of a code, executed one after another. The last of them made
 * `accesses`; either all of them were skipped, since their guards were false for all lanes, or
 * none. */
typedef struct TraceRun {
    uint32_t first;
    int32_t function; /* index in the module; -1: the kernel */
    uint16_t count;
    uint8_t accesses;
    bool skipped;
} TraceRun;

/* What an access touched: one word, then for global memory one per line. */
typedef enum TraceKind {
    TRACE_SHARED,
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_LOCAL_STORE,
    TRACE_ATOMIC,        /* on floating-point numbers */
    TRACE_INTEGER_ATOMIC /* any other */
} TraceKind;

/* Lines of global memory have smaller numbers. */
#define TRACE_LOCAL_LINES (1ull << 41)

/* How many sectors of a line are in the mask. */
static inline unsigned sectors_in(unsigned mask)
{
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1);
}

static inline bool trace_is_local(uint64_t line)
{
    return line & TRACE_LOCAL_LINES;
}

static inline uint64_t trace_head(TraceKind kind, int lines, int wavefronts)
{
    return (uint64_t) wavefronts << 16 | (uint64_t) lines << 8 | (uint64_t) kind;
}

/* `sectors`: one bit each. amount: of a store the bytes in each sector (32: all of it); of an
 * atomic how often its busiest address is updated. */
static inline uint64_t trace_line(uint64_t line, unsigned sectors, unsigned amount)
{
    return line << 16 | amount << 8 | sectors;
}

typedef struct Trace {
    TraceRun *runs;
    uint64_t *words;
    int run_count, run_room, word_count, word_room;
    const Code *code; /* of the last run, and its next step; NULL: the run is over */
    uint32_t next;
    bool skipped;
} Trace;

typedef struct BlockTrace {
    struct BlockTrace *next;
    long block; /* its number */
    Trace *warps;
    int warp_count;
    bool incomplete; /* out of memory */
} BlockTrace;

void trace_run(Warp *warp, int pc, bool skipped); /* begins one */

/* Before a warp does a step, or skips it. */
static inline void trace_step(Warp *warp, int pc, bool skipped)
{
    Trace *trace = warp->trace;
    TraceRun *run = trace->code ? &trace->runs[trace->run_count - 1] : NULL;

    if (run && trace->code == warp->code && trace->next == (uint32_t) pc &&
        trace->skipped == skipped && run->count < UINT16_MAX) {
        run->count++;
        trace->next++;
    } else {
        trace_run(warp, pc, skipped);
    }
}
/* An access, counted already. */
void trace_access(const Access *access);
void trace_clear(BlockTrace *block);
void trace_free(BlockTrace *block);

#endif
