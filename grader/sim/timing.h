/* timing.h - how long a launch takes on the described GPU: modelled, not measured.
 *
 * While a block runs, each of its warps keeps a trace: which steps it executed, and what its
 * accesses touched (timing_trace.c). When the block has ended, its trace goes to the model
 * (timing_gpu.c), which gives it to the first SM that has room and plays it there (timing_sm.c):
 * schedulers, scoreboard, pipes, barriers; loads and stores (timing_lsu.c) go through the caches
 * and the memory that all SMs share (timing_memory.c). What a step of PTX is on the machine says
 * timing_ops.c.
 *
 * Every figure comes from the device's description. Without a Timing nothing is kept, and nothing
 * costs time.
 */
#ifndef SIM_TIMING_H
#define SIM_TIMING_H

#include "access.h"
#include "device.h"
#include "limiter.h"

/* ---- Traces ---- */

/* Steps first .. first + count - 1 of a code, executed one after another. The last of them made
 * `accesses`; all of them were skipped, their guards being off for all lanes, or none. */
typedef struct TraceRun {
    uint32_t first;
    int32_t function; /* index in the module; -1: the kernel */
    uint16_t count;
    uint8_t accesses;
    bool skipped;
} TraceRun;

/* What an access touched: one word, then for global memory one a line. */
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

static inline bool trace_is_local(uint64_t line)
{
    return line & TRACE_LOCAL_LINES;
}

static inline uint64_t trace_head(TraceKind kind, int lines, int wavefronts)
{
    return (uint64_t) wavefronts << 16 | (uint64_t) lines << 8 | (uint64_t) kind;
}

/* `sectors`: a bit each. amount: of a store the bytes in each sector (32: all of it); of an atomic
 * how often its busiest address is updated. */
static inline uint64_t trace_line(uint64_t line, unsigned sectors, unsigned amount)
{
    return line << 16 | amount << 8 | sectors;
}

typedef struct Trace {
    TraceRun *runs;
    uint64_t *words;
    int run_count, run_room, word_count, word_room;
    const Code *code; /* of the last run, and where it would go on; NULL: it is over */
    uint32_t next;
    bool skipped;
} Trace;

typedef struct BlockTrace {
    struct BlockTrace *next;
    Trace *warps;
    int warp_count;
    bool incomplete; /* there was no memory */
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

/* ---- The model ---- */

typedef struct Gpu Gpu;
typedef struct Timing Timing;

/* Caches keep what is in them from launch to launch. NULL: no memory. */
Gpu *gpu_open(const Device *device);
void gpu_close(Gpu *gpu);
/* The host, or a copy, has written there: it lies in the L2. */
void gpu_written(Gpu *gpu, uint64_t address, size_t bytes);

typedef struct TimingResult {
    double cycles;         /* from the first block's start to the last one's end */
    double ms;             /* the launch, overhead included */
    long blocks, timed;    /* of the grid; of these, played */
    uint64_t instructions; /* of the machine, in the blocks played */
    uint64_t l1_hits, l1_misses, l2_hits, l2_misses; /* sectors loaded */
    double memory_read_bytes, memory_write_bytes;
    /* Nanoseconds: where they went, in sum `ms`; what schedulers with warps waited for; how long
     * each unit was at work (limiter.h). */
    Spent spent;
    double waits[WAITS], busy[LIMITS];
    /* Of steps, [function + 1][step], in units of `step_ns`. Until the next launch; NULL: none. */
    const Spent *const *steps;
    double step_ns;
} TimingResult;

/* A launch: after it is set up, and before its first block. `resident`: blocks an SM. Of a launch
 * of more than `most_played` warp instructions waves are left out; 0: never. NULL: no memory. The
 * caller puts it into launch->timing.
 */
Timing *timing_begin(Gpu *gpu, Launch *launch, int resident, uint64_t most_played);
TimingResult timing_end(Timing *timing); /* frees */

/* blocks.c, turn.c: these do nothing if launch->timing is NULL. */
void timing_block_begin(Block *block);
void timing_block_end(Block *block);

#endif
