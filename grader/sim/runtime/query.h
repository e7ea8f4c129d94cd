/* query.h - what a host program may ask of the simulated GPU beside CUDA's calls: what was wrong,
 * what was counted, what may be touched. The library exports these functions; a program that is to
 * run on real GPUs as well finds them by dlsym(), or is linked with the simulated library alone.
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
 * may use (MarkKind in memory.h: 0 may use, 1 no access, 2 not initialised). 0: not in one. */
int simMark(void *pointer, size_t bytes, int kind);

/* What messages are to call the allocation that begins there; the text must stay. 0: none does. */
int simName(void *pointer, const char *name);

/* From the next launch on: whether races and uninitialised reads are looked for (what is in memory
 * stays known meanwhile), and the warp instructions that a launch may execute, 0: any number. */
void simChecks(int on, uint64_t budget);

/* From the next launch on, where those checks are off: in a few blocks of each launch, drawn with
 * this seed, shared memory is checked all the same. 0: in none. */
void simSample(uint64_t seed);

/* From the next launch on: the order of warps, and of blocks that run beside each other
 * (SIM_SCHED). `seed` is for chance alone. */
typedef enum SimOrder { SIM_FORWARD, SIM_REVERSE, SIM_BY_CHANCE } SimOrder;
void simOrder(SimOrder order, uint64_t seed);

/* From the next work on, time is modelled, as with SIM_TIME. Each simForget() then also empties the
 * described GPU's caches: what comes after it begins cold. */
void simTime(void);

/* What was timed since the last simForget(). */
typedef struct SimTimes {
    uint64_t launches, untimed;                  /* of kernels; of these, without a modelled time */
    uint64_t blocks, timed_blocks, instructions; /* of warps, executed */
    double kernels_ms;                           /* all kernels, one after the other */
} SimTimes;
void simTimes(SimTimes *times);

/* The i-th finding, in the order in which they came up. 0: there is no such. */
int simFinding(int i, Finding *copy);
const char *simWord(FindingKind kind); /* "out of bounds" */

/* Of all launches since the last simForget(), work that was issued being done first. */
typedef struct SimTraffic {
    uint64_t requests, passes; /* sectors of global memory, wavefronts of shared memory */
    uint64_t asked; /* bytes of global memory; of shared memory wavefronts without conflicts */
} SimTraffic;

typedef struct SimLine {
    const char *file; /* NULL: no -lineinfo, and `line` is that of the PTX */
    int line;
    uint64_t instructions, barriers;                     /* of warps */
    uint64_t lanes, ffma_lanes;                          /* that took part, of all instructions */
    SimTraffic global_load, global_store, global_atomic; /* cp.async counts as a load */
    SimTraffic shared;                                   /* loads, stores, atomics and cp.async */
    Spent spent;                                         /* ns, if time is modelled */
} SimLine;

/* The i-th source line that did anything, of one kernel after the other. 0: there is no such. */
int simLine(int i, SimLine *line);

/* The allocation that begins there. 0: nothing was counted for it. */
int simArray(const void *pointer, SimTraffic *load, SimTraffic *store, SimTraffic *atomic);

/* What limited it all, from its first piece of work to its last. 0: time is not modelled. */
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
