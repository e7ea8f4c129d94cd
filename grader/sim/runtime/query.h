/* query.h - calls to the simulated GPU in addition to CUDA's: findings, counters, forbidden bytes.
 * The library exports these functions; a program that also runs on real GPUs finds them by dlsym(),
 * or links to the simulated library only.
 */
#ifndef SIM_RUNTIME_QUERY_H
#define SIM_RUNTIME_QUERY_H

#include "sim/base/finding.h"
#include "sim/base/limiter.h"
#include "sim/base/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of an allocation that a kernel may not touch, may not read before it has written them, or
 * may use (MarkKind in memory.h: 0 may use, 1 no access, 2 not initialised). Returns 0 if they are
 * not in one. */
int simMark(void *pointer, size_t bytes, int kind);

/* The name in messages of the allocation that begins there; the caller keeps the text. 0: no
 * allocation begins there. */
int simName(void *pointer, const char *name);

/* From the next launch on: whether races and uninitialised reads are checked (written bytes are
 * tracked meanwhile), and the warp instructions that a launch may execute; 0: no limit. */
void simChecks(int on, uint64_t budget);

/* From the next launch on, if those checks are off: shared memory is checked in a few blocks of
 * each launch, drawn with this seed. 0: in none. */
void simSample(uint64_t seed);

/* From the next launch on: the order of warps, and of blocks that run concurrently (SIM_SCHED).
 * `seed` is for the random order only. */
typedef enum SimOrder { SIM_FORWARD, SIM_REVERSE, SIM_BY_CHANCE } SimOrder;
void simOrder(SimOrder order, uint64_t seed);

/* From the next work on, time is modelled, as with SIM_TIME. Each simForget() then also empties the
 * described GPU's caches, so later work begins cold. */
void simTime(void);

/* The times since the last simForget(). */
typedef struct SimTimes {
    uint64_t launches, untimed;                  /* of kernels; of these, without a modelled time */
    uint64_t blocks, timed_blocks, instructions; /* of warps, executed */
    double kernels_ms;                           /* all kernels, one after the other */
} SimTimes;
void simTimes(SimTimes *times);

/* The i-th finding, in the order of their occurrence. Returns 0 if there are fewer. */
int simFinding(int i, Finding *copy);
const char *simWord(FindingKind kind); /* "out of bounds" */

/* The counters of all launches since the last simForget(); issued work is executed first. */
typedef struct SimTraffic {
    uint64_t requests, passes; /* sectors of global memory, wavefronts of shared memory */
    uint64_t asked; /* bytes of global memory; of shared memory wavefronts without conflicts */
} SimTraffic;

typedef struct SimLine {
    const char *file; /* NULL: no -lineinfo, and `line` is that of the PTX */
    int line;
    uint64_t instructions, barriers;                     /* of warps */
    uint64_t lanes, ffma_lanes;                          /* active lanes, of all instructions */
    SimTraffic global_load, global_store, global_atomic; /* cp.async counts as a load */
    SimTraffic shared;                                   /* loads, stores, atomics and cp.async */
    Spent spent;                                         /* ns, if time is modelled */
} SimLine;

/* The i-th source line with counters, kernel by kernel. Returns 0 if there are fewer. */
int simLine(int i, SimLine *line);

/* The counters of the allocation that begins there. Returns 0 if it has none. */
int simArray(const void *pointer, SimTraffic *load, SimTraffic *store, SimTraffic *atomic);

/* The limits of all work, from the first piece to the last. Returns 0 if time is not modelled. */
typedef struct SimRoofs {
    double fp32_tflops, memory_gbps; /* of the device as it is simulated */
} SimRoofs;
int simLimits(Limits *limits, SimRoofs *roofs);

/* From the next launch on, samples of what kernels do are kept (records.h). 0: no memory. */
int simRecord(const RecordFilter *filter);
/* What was kept since, work that was issued being done first. 0: simRecord() was not called. */
int simRecords(Records *copy);

/* Forgets findings and counts; texts of earlier findings and lines are gone. */
void simForget(void);

#ifdef __cplusplus
}
#endif
#endif
