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
    result->moved_ms = moved.us / 1e3;
    result->ms += result->moved_ms;
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

/* ---- What it needs of the SMs ---- */

/* Fills, and copies that no copy engine does, are kernels of small blocks that keep memory busy. */
static KernelUse use_of_copying(void)
{
    enum { BLOCKS = 8, MANY = 1000 }; /* per SM; waves */

    return (KernelUse){ .blocks = BLOCKS * rt.device.sms,
                        .waves = MANY,
                        .part = { [PART_WARPS] = 1.0 / BLOCKS },
                        .busy = { [UNIT_DRAM] = 1 },
                        .tail = { .begins = 1 } };
}

static void set_parts(KernelUse *use, const KernelWork *kernel, const Occupancy *occupancy)
{
    const Device *d = &rt.device;
    const int threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    const double warps = (threads + LANES - 1) / LANES;

    use->part[PART_WARPS] = warps * LANES / d->threads_per_sm;
    use->part[PART_PLACES] = 1.0 / d->blocks_per_sm;
    use->part[PART_REGISTERS] = warps * (double) occupancy->warp_registers / d->registers_per_sm;
    use->part[PART_SHARED] = (double) occupancy->block_shared_bytes / d->shared_per_sm_bytes;
}

/* The time in the units of arithmetic other than FP32 is that which was charged to them. While
 * memory moves, no unit is busy. */
static void set_busy(KernelUse *use, const TimingResult *result)
{
    static const int limits[SHARED_UNITS] = {
        [UNIT_FP32] = AT_FP32,    [UNIT_SHARED] = AT_SHARED, [UNIT_L1] = AT_L1,
        [UNIT_L2] = AT_L2,        [UNIT_DRAM] = AT_DRAM,     [UNIT_ATOMICS] = AT_ATOMICS,
        [UNIT_LINK] = AT_TRANSFER
    };
    const Device *d = &rt.device;
    const double runs = result->cycles * 1e3 / d->sm_mhz, ns = runs + result->moved_ms * 1e6;
    const double slots = d->schedulers_per_sm * d->sms;

    for (int i = 0; i < SHARED_UNITS; i++)
        use->busy[i] = result->busy[limits[i]] / ns;
    use->busy[UNIT_LINK] = fmin(1, use->busy[UNIT_LINK] * result->link_ways);
    use->busy[UNIT_OTHERS] = result->spent.at[AT_UNITS] / ns;
    use->busy[UNIT_ISSUE] = (double) result->instructions * (double) result->blocks /
                            (double) result->timed / result->cycles / slots * (runs / ns);
}

KernelUse time_use(const KernelWork *kernel, const Occupancy *occupancy, const TimingResult *result)
{
    KernelUse use = { .blocks = result->resident, .tail = result->tail };

    if (result->cycles <= 0 || result->timed <= 0) /* no time is known: it takes none */
        return use_of_copying();
    use.waves = (double) result->blocks / result->resident;
    set_parts(&use, kernel, occupancy);
    set_busy(&use, result);
    return use;
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
                          .use = use_of_copying(),
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
                          .use = use_of_copying(),
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
                          .use = use_of_copying(),
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = transfer_ps(bytes, d->memory_gbps * d->memory_write_share),
                          .bytes = bytes };
}

static TimelineJob prefetch_job(const PrefetchWork *prefetch)
{
    const Device *d = &rt.device;

    return (TimelineJob){ .row = prefetch->to_device ? ROW_UP : ROW_DOWN,
                          .use = use_of_copying(),
                          .lead_ps = picoseconds(d->launch_us / 1e3),
                          .ps = picoseconds(prefetch->us / 1e3),
                          .shared = fmin(1, d->pcie_both_share / d->pcie_pinned_share),
                          .bytes = prefetch->moved };
}

static TimelineJob kernel_job(const Work *work)
{
    const KernelWork *kernel = &work->kernel;
    const double lead_ms = fmin(work->ms, rt.device.launch_us / 1e3);

    return (TimelineJob){ .row = ROW_KERNEL,
                          .use = kernel->use,
                          .lead_ps = picoseconds(lead_ms),
                          .ps = picoseconds(work->ms) - picoseconds(lead_ms),
                          .name = kernel->function->plain,
                          .tag = work->number };
}

static TimelineJob job_alone(const Work *work)
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

static bool is_of_copy_engine(const TimelineJob *job)
{
    return rt.device.copy_engines && (job->row == ROW_UP || job->row == ROW_DOWN);
}

/* How soon the work begins after other work, and other work after it. */
TimelineJob time_job(const Work *work)
{
    const Device *d = &rt.device;
    const double follow_us = work->after_node ? d->graph_follow_us : d->follow_us;
    const double switch_us = work->of_graph ? 0 : d->switch_us;
    TimelineJob job = job_alone(work);

    if (job.row == ROW_MARK)
        return job;
    job.priority = work->kind == WORK_KERNEL ? work->kernel.hints.priority : work->stream->priority;
    job.cross_ps = picoseconds(d->cross_us / 1e3);
    job.follow_ps =
        is_of_copy_engine(&job) ? 0 : llround(fmin((double) job.lead_ps, follow_us * 1e6));
    job.start_ps = picoseconds(d->start_us / 1e3);
    job.switch_ps = picoseconds(switch_us / 1e3);
    return job;
}
