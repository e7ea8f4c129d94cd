/* trace.c - records for a trace: an observer of the model of time. */
#include "sim/report/trace_data.h"

#include <stdlib.h>
#include <string.h>

static Traced *traced; /* NULL: off */
static int launch_now; /* index of the running launch; -1: no room for it */

bool trace_start(void)
{
    if (!traced)
        traced = malloc(sizeof *traced);
    if (!traced)
        return false;
    memset(traced, 0, sizeof *traced);
    launch_now = -1;
    return true;
}

void trace_stop(void)
{
    free(traced);
    traced = NULL;
}

bool trace_is_on(void)
{
    return traced;
}

/* ---- Events of the model ---- */

static void block_played(Launch *launch, const BlockPlayed *played)
{
    (void) launch;
    if (launch_now < 0)
        return;
    if (traced->block_count == TRACE_BLOCKS) {
        traced->lost_blocks++;
        return;
    }
    traced->blocks[traced->block_count++] = (TracedBlock){ .launch = launch_now,
                                                           .sm = played->sm,
                                                           .block = played->block,
                                                           .begin = played->begin,
                                                           .end = played->end };
}

static int charged_line(const Step *step)
{
    return step->in->charged_line ? step->in->charged_line : step->in->ptx_line;
}

static void warp_waited(Launch *launch, const WarpWaited *waited)
{
    (void) launch;
    if (launch_now < 0 || waited->sm != TRACE_WAITS_OF_SM)
        return;
    if (traced->wait_count == TRACE_WAITS) {
        traced->lost_waits++;
        return;
    }
    traced->waits[traced->wait_count++] =
        (TracedWait){ .launch = launch_now,
                      .warp = waited->warp,
                      .block = waited->block,
                      .reason = waited->reason,
                      .line = waited->step ? charged_line(waited->step) : 0,
                      .begin = waited->begin,
                      .end = waited->end };
}

static void warp_played(Launch *launch, const WarpPlayed *played)
{
    (void) launch;
    if (launch_now < 0)
        return;
    if (traced->warp_count == TRACE_WARPS) {
        traced->lost_warps++;
        return;
    }
    traced->warps[traced->warp_count++] = (TracedWarp){ .launch = launch_now,
                                                        .warp = played->warp,
                                                        .block = played->block,
                                                        .begin = played->begin,
                                                        .end = played->end,
                                                        .issued = played->issued };
}

static const Observer trace_observer = { .block_played = block_played,
                                         .warp_waited = warp_waited,
                                         .warp_played = warp_played };

/* ---- Launches ---- */

void trace_launch(Launch *launch, uint64_t tag)
{
    int count = 0;
    TracedLaunch *to;

    if (!traced)
        return;
    launch_now = -1;
    while (count < MOST_OBSERVERS && launch->observers[count])
        count++;
    if (traced->launch_count == TRACE_LAUNCHES || count == MOST_OBSERVERS) {
        traced->lost_launches++;
        return;
    }
    launch_now = traced->launch_count++;
    to = &traced->launches[launch_now];
    *to = (TracedLaunch){ .tag = tag };
    snprintf(to->name, sizeof to->name, "%s", launch->name ? launch->name : "kernel");
    memcpy(to->grid, launch->grid, sizeof to->grid);
    memcpy(to->block, launch->block, sizeof to->block);
    launch->observers[count] = &trace_observer;
}

void trace_launched(const TimingResult *time)
{
    TracedLaunch *to;

    if (!traced || launch_now < 0)
        return;
    to = &traced->launches[launch_now];
    to->cycles = (uint64_t) (time->cycles + 0.5);
    to->instructions = time->instructions;
    to->blocks = time->blocks;
    to->timed = time->timed;
    launch_now = -1;
}

bool trace_write(const Timeline *timeline, const Device *device, FILE *out)
{
    if (traced)
        trace_write_json(traced, timeline, device, out);
    return traced;
}
