/* timing.h - how long a launch takes on the described GPU: modelled, not measured.
 *
 * While a block runs, each of its warps records a trace: the steps that it executed, and what its
 * accesses touched (trace.h). When the block has ended, the model (sim/time/timing.c) passes the
 * trace to the first SM that has room and plays it there (sim/time/sm.c): schedulers, scoreboard,
 * pipes, barriers; loads and stores (sim/time/lsu.c) go through the caches and the memory that all
 * SMs share (sim/time/memory.c). sim/machine/operations.c maps each step of PTX to machine
 * instructions.
 *
 * Every figure comes from the device's description. Without a Timing, traces are not recorded and
 * cost no time.
 */
#ifndef SIM_TIME_TIMING_H
#define SIM_TIME_TIMING_H

#include "sim/exec/trace.h"
#include "sim/device/device.h"
#include "sim/base/cause.h"
#include "sim/base/limiter.h"
#include "sim/time/sharing.h"

/* ---- The model ---- */

typedef struct Gpu Gpu;
typedef struct Timing Timing;

/* Caches keep their contents from launch to launch. Returns NULL if out of memory. */
Gpu *gpu_open(const Device *device);
/* The same, but times leave out these causes of slowness. */
Gpu *gpu_open_without(const Device *device, CauseSet without);
/* A long launch may use this many threads, including the caller's. All results are the same. */
void gpu_use_threads(Gpu *gpu, int threads);
void gpu_close(Gpu *gpu);
/* Puts bytes that the host or a copy has written into the L2, and those that it has read. `from`: 0
 * if they are no device memory. */
void gpu_written(Gpu *gpu, uint64_t to, uint64_t from, size_t bytes);

typedef struct TimingResult {
    double cycles;         /* from the start of the first block to the end of the last one */
    double ms;             /* the whole launch, including its overhead */
    double moved_ms;       /* the part of it in which it waits for managed memory that moves */
    long blocks, timed;    /* of the grid; those that were played */
    uint64_t instructions; /* machine instructions of the blocks played */
    uint64_t l1_hits, l1_misses, l2_hits, l2_misses; /* sectors loaded */
    double memory_read_bytes, memory_write_bytes;
    /* Nanoseconds by limit (their sum is `ms`), by what schedulers with warps waited for, and in
     * which each unit was busy (limiter.h). */
    Spent spent;
    double waits[WAITS], busy[LIMITS];
    double link_ways; /* the time of both directions of the link, relative to the busier one's */
    int resident;     /* the number of blocks that run at the same time */
    KernelTail tail;  /* how they end */
    /* By step, [function + 1][step], in units of `step_ns`. Valid until the next launch. May be
     * NULL. */
    const Spent *const *steps;
    double step_ns;
} TimingResult;

/* Begins a launch that has been set up, before its first block. `resident`: blocks per SM. If a
 * launch has more than `most_played` warp instructions, its later waves are left out (0: never).
 * The caller puts the result into launch->timing, and timing_observer into launch->observers. NULL:
 * out of memory. */
Timing *timing_begin(Gpu *gpu, Launch *launch, int resident, uint64_t most_played);
TimingResult timing_end(Timing *timing); /* frees */

/* Does nothing if launch->timing is NULL. */
extern const Observer timing_observer;

#endif
