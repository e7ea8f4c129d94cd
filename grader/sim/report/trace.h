/* trace.h - a trace of the modelled time, in the JSON format that Perfetto reads
 * (docs/simulator-time.md, section Trace): streams, engines, and on each SM the blocks and their
 * warps, with the reasons why these waited.
 *
 * It is off until trace_start(). All tables have a fixed capacity, so the size is bounded whatever
 * a program does; the trace says what did not fit. The caller holds the runtime's lock.
 */
#ifndef SIM_REPORT_TRACE_H
#define SIM_REPORT_TRACE_H

#include "sim/device/device.h"
#include "sim/time/timeline.h"
#include "sim/time/timing.h"

#include <stdio.h>

enum {
    TRACE_LAUNCHES = 64,
    TRACE_BLOCKS = 4096,
    TRACE_WARPS = 10000,
    TRACE_WAITS = 40000,
    TRACE_WAITS_OF_SM = 0, /* the others' would fill the table before any warp has ended */
    TRACE_SPANS = 2000,    /* of the timeline */
    TRACE_BYTES = 16 << 20 /* a trace is smaller */
};

/* Discards an earlier trace; records from the next launch on. Returns false if out of memory. */
bool trace_start(void);
void trace_stop(void);
bool trace_is_on(void);

/* Adds the trace to a launch that is about to run, after the model of time. `tag`: that of the
 * launch on the timeline. trace_launched() follows when the launch and its model have ended. */
void trace_launch(Launch *launch, uint64_t tag);
void trace_launched(const TimingResult *time);

/* Writes what was recorded. `timeline`: NULL if the order of work is unknown; launches are then
 * placed one after the other. Returns false if the trace is off. */
bool trace_write(const Timeline *timeline, const Device *device, FILE *out);

#endif
