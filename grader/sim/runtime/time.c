/* time.c - how long each piece of work takes if nothing else runs on the device.
 *
 * For kernels, the timing model (timing.h) computes it; copies and fills take the time that the
 * described link or memory needs for their bytes. clock.c decides when work runs and whether it
 * overlaps.
 */
#include "sim/runtime/runtime.h"
#include "sim/time/migration.h"
#include "sim/time/timeline.h"
#include "sim/time/timing.h"

#include <math.h>

enum { MOST_PLAYED = 10000000 }; /* warp instructions; larger launches are sampled by waves */

static Gpu *gpu; /* NULL: not opened yet, or time is not modelled */

static bool is_open(void)
{
    if (rt.settings.time && !gpu)
        gpu = gpu_open_without(&rt.device, rt.settings.without);
    if (gpu)
        gpu_use_threads(gpu, rt.settings.threads);
    return gpu;
}

void time_begin(Launch *launch, const Occupancy *occupancy)
{
    if (!is_open() || occupancy->blocks_per_sm <= 0)
        return;
    launch->timing =
        timing_begin(gpu, launch, occupancy->blocks_per_sm, rt.settings.time_all ? 0 : MOST_PLAYED);
    launch->observers[1] = &timing_observer;
}

/* The kernel waits for memory that moves, whatever else it does. */
static void add_migration(TimingResult *result, Migration moved)
{
    const double link_gbps = rt.device.pcie_gbps * rt.device.pcie_pinned_share;

    if (!result->ms)
        return;
    result->ms += moved.us / 1e3;
    result->spent.at[AT_TRANSFER] += moved.us * 1e3;
    result->busy[AT_TRANSFER] += moved.bytes / link_gbps;
}

void time_end(Launch *launch, TimingResult *result)
{
    if (!launch->timing)
        return;
    *result = timing_end(launch->timing);
    add_migration(result, managed_after_kernel());
    launch->timing = NULL;
    launch->timed = launch->failed || !result->ms ? NULL : result;
}

void time_cold(void)
{
    gpu_close(gpu);
    gpu = NULL;
}

void time_written(uint64_t to, uint64_t from, size_t bytes)
{
    if (rt.settings.time && is_open())
        gpu_written(gpu, to, from, bytes);
}

/* ---- How long ---- */

static int64_t picoseconds(double ms)
{
    return llround(ms * 1e9);
}

/* The time for this many bytes at this bandwidth. */
static int64_t transfer_ps(double bytes, double gbps)
{
    return llround(bytes / gbps * 1e3);
}

/* A copy over the link, in either direction. A pageable copy goes through a pinned buffer, which
 * the processor fills. */
static TimelineJob link_job(const CopyWork *copy, double bytes)
{
    const Device *d = &rt.device;
    const double share = copy->pinned ? d->pcie_pinned_share : d->pcie_pageable_share;

    return (TimelineJob){ .row = copy->to_device ? ROW_UP : ROW_DOWN,
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = picoseconds(d->copy_us / 1e3) +
                                transfer_ps(bytes, d->pcie_gbps * share),
                          .shared = fmin(1, d->pcie_both_share / share),
                          .bytes = bytes };
}

static TimelineJob copy_job(const CopyWork *copy)
{
    const Device *d = &rt.device;
    const double bytes = (double) copy->width * (double) (copy->height * copy->depth);

    if (copy->to_device != copy->from_device)
        return link_job(copy, bytes);
    if (!copy->to_device) /* work of the host itself is not timed */
        return (TimelineJob){ .row = ROW_MARK };
    return (TimelineJob){ .row = ROW_FILL,
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = transfer_ps(bytes, d->memory_gbps * d->memory_read_share) +
                                transfer_ps(bytes, d->memory_gbps * d->memory_write_share),
                          .bytes = bytes };
}

static TimelineJob fill_job(const FillWork *fill)
{
    const Device *d = &rt.device;
    const double bytes = (double) fill->width * (double) fill->height;

    return (TimelineJob){ .row = ROW_FILL,
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = transfer_ps(bytes, d->memory_gbps * d->memory_write_share),
                          .bytes = bytes };
}

static TimelineJob prefetch_job(const PrefetchWork *prefetch)
{
    const Device *d = &rt.device;

    return (TimelineJob){ .row = prefetch->to_device ? ROW_UP : ROW_DOWN,
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = picoseconds(prefetch->us / 1e3),
                          .shared = fmin(1, d->pcie_both_share / d->pcie_pinned_share),
                          .bytes = prefetch->moved };
}

/* Blocks are spread over as many SMs as possible; concurrent kernels do not share an SM. */
static TimelineJob kernel_job(const Work *work)
{
    const KernelWork *kernel = &work->kernel;
    const int64_t blocks = (int64_t) kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    const double lead_ms = fmin(work->ms, rt.device.launch_us / 1e3);

    return (TimelineJob){ .row = ROW_KERNEL,
                          .sms = blocks < rt.device.sms ? (int) blocks : rt.device.sms,
                          .lead_ps = picoseconds(lead_ms),
                          .ps = picoseconds(work->ms) - picoseconds(lead_ms),
                          .name = kernel->function->plain,
                          .tag = work->number };
}

TimelineJob time_job(const Work *work)
{
    switch (work->kind) {
    case WORK_KERNEL:
        return kernel_job(work);
    case WORK_COPY:
        return copy_job(&work->copy);
    case WORK_FILL:
        return fill_job(&work->fill);
    case WORK_PREFETCH:
        return prefetch_job(&work->prefetch);
    default:
        return (TimelineJob){ .row = ROW_MARK };
    }
}
