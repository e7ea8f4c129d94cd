/* query.h - calls to the simulated GPU in addition to CUDA's: findings, counters, forbidden bytes.
 * The library exports these functions. A program that also runs on real GPUs finds them with
 * dlsym(); others link to the simulated library.
 */
#ifndef SIM_RUNTIME_QUERY_H
#define SIM_RUNTIME_QUERY_H

#include "sim/base/cause.h"
#include "sim/base/finding.h"
#include "sim/base/limiter.h"
#include "sim/base/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks bytes of an allocation: kernels may use them (0), may not access them (1), or may not read
 * them before they are written (2; MarkKind in memory.h). Returns 0 if the bytes are not in one
 * allocation. */
int simMark(void *pointer, size_t bytes, int kind);

/* Names the allocation that begins at `pointer`, for messages; the caller keeps the text.
 * row_bytes: of a matrix, for maps; 0: another array. Returns 0 if no allocation begins there. */
int simName(void *pointer, const char *name, size_t row_bytes);

/* From the next launch on: whether races and uninitialised reads are checked (written bytes are
 * tracked in any case), and the limit of warp instructions per launch (0: no limit). */
void simChecks(int on, uint64_t budget);

/* From the next launch on, if those checks are off: shared memory is checked in a few blocks of
 * each launch, which are drawn with this seed. 0: in no block. */
void simSample(uint64_t seed);

/* From the next launch on: the order of warps, and of blocks that run concurrently (SIM_SCHED).
 * `seed` is for the random orders: this one, and that of unordered streams if races are checked. */
typedef enum SimOrder { SIM_FORWARD, SIM_REVERSE, SIM_BY_CHANCE } SimOrder;
void simOrder(SimOrder order, uint64_t seed);

/* From the next work on, time is modelled, as with SIM_TIME, and leaves out these causes of
 * slowness (a CauseSet; 0: none). Each simForget() then also empties the modelled caches, so that
 * later work starts with cold caches. */
void simTime(CauseSet without);

/* The times since the last simForget(). */
typedef struct SimTimes {
    uint64_t launches, untimed;                  /* untimed: launches without a modelled time */
    uint64_t blocks, timed_blocks, instructions; /* executed warp instructions */
    double kernels_ms;                           /* the sum over all kernels */
} SimTimes;
void simTimes(SimTimes *times);

/* Copies the i-th finding, in order of occurrence. Returns 0 if there are fewer. */
int simFinding(int i, Finding *copy);
const char *simWord(FindingKind kind); /* "out of bounds" */

/* The counters of all launches since the last simForget(); issued work is executed first. */
typedef struct SimTraffic {
    uint64_t requests, passes; /* sectors of global memory, wavefronts of shared memory */
    uint64_t asked; /* global memory: bytes; shared memory: wavefronts without conflicts */
} SimTraffic;

typedef struct SimLine {
    const char *file; /* NULL: no -lineinfo, and `line` is a line of the PTX */
    int line;
    uint64_t instructions, barriers;                     /* of warps */
    uint64_t lanes, ffma_lanes;                          /* active lanes, of all instructions */
    SimTraffic global_load, global_store, global_atomic; /* cp.async counts as a load */
    SimTraffic shared;                                   /* loads, stores, atomics and cp.async */
    Spent spent;                                         /* ns, if time is modelled */
} SimLine;

/* Gets the i-th source line with counters, kernel by kernel. Returns 0 if there are fewer. */
int simLine(int i, SimLine *line);

/* Gets the counters of the allocation that begins at `pointer`. Returns 0 if it has none. */
int simArray(const void *pointer, SimTraffic *load, SimTraffic *store, SimTraffic *atomic);

/* Gets the i-th pair of a kernel and a source line that accesses that allocation; only its name and
 * its accesses to that allocation are set. Returns 0 if there are fewer. */
int simArrayLine(const void *pointer, int i, SimLine *line);

/* The limits of all work, from the first piece to the last. Returns 0 if time is not modelled. */
typedef struct SimRoofs {
    double fp32_tflops, memory_gbps; /* of the simulated device */
} SimRoofs;
int simLimits(Limits *limits, SimRoofs *roofs);

/* From the next launch on, samples of what kernels do are kept (records.h). Returns 0 if out of
 * memory. */
int simRecord(const RecordFilter *filter);
/* Executes all issued work, then copies the samples kept so far. Returns 0 if simRecord() was not
 * called. */
int simRecords(Records *copy);

/* From the next launch on, a trace is kept (sim/report/trace.h). Returns 0 if out of memory. */
int simTrace(void);
/* Executes all issued work, then writes the trace as text. Returns its length; 0 if simTrace() was
 * not called or `room` is too small. */
size_t simTraced(char *to, size_t room);

/* Discards findings and counts; the texts of earlier findings and lines become invalid. */
void simForget(void);

#ifdef __cplusplus
}
#endif
#endif
