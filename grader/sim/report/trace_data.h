/* trace_data.h - what a trace keeps, shared by the files that record and write it. */
#ifndef SIM_REPORT_TRACE_DATA_H
#define SIM_REPORT_TRACE_DATA_H

#include "sim/report/trace.h"

#include <stdio.h>

typedef struct TracedLaunch {
    uint64_t tag;
    char name[64];
    int grid[3], block[3];
    uint64_t cycles, instructions;
    long blocks, timed; /* of the grid; played by the model */
    int64_t start_ps;   /* of its first cycle; set when the trace is written */
    int lane;           /* launches that overlap in time have different lanes */
} TracedLaunch;

/* Times are in cycles since the launch began. */
typedef struct TracedBlock {
    int launch, sm;
    long block;
    int slot; /* blocks of one SM that overlap in time have different slots */
    uint64_t begin, end;
} TracedBlock;

typedef struct TracedWarp {
    int launch, warp;
    long block;
    uint64_t begin, end, issued;
} TracedWarp;

typedef struct TracedWait {
    int launch, warp;
    long block;
    int reason, line;
    uint64_t begin, end;
} TracedWait;

typedef struct Traced {
    TracedLaunch launches[TRACE_LAUNCHES];
    TracedBlock blocks[TRACE_BLOCKS];
    TracedWarp warps[TRACE_WARPS];
    TracedWait waits[TRACE_WAITS];
    int launch_count, block_count, warp_count, wait_count;
    uint64_t lost_launches, lost_blocks, lost_warps, lost_waits;
} Traced;

/* sim/report/trace_json.c. Sorts the tables and sets the launches' places in time. */
void trace_write_json(Traced *traced, const Timeline *timeline, const Device *device, FILE *out);

#endif
