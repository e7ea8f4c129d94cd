/* rt_time.c - the simulated clock: how long each piece of work takes.
 *
 * With SIM_TIME the model of time (timing.h) says it for kernels; copies and fills take what the
 * described link or memory needs for their bytes. Without, a clock that only goes on: a kernel
 * takes a microsecond and a nanosecond a warp instruction, a copy a microsecond and 10 GB/s.
 *
 * All work follows one clock, in the order in which it is done: streams and copy engines that work
 * side by side will have their own times here.
 */
#include "rt.h"
#include "timing.h"

enum { MOST_PLAYED = 10000000 }; /* warp instructions: of larger launches waves are left out */

static Gpu *gpu; /* NULL: not opened yet, or time is not wanted */

static bool is_open(void)
{
    if (rt.settings.time && !gpu)
        gpu = gpu_open(&rt.device);
    return gpu;
}

void time_begin(Launch *launch, const Occupancy *occupancy)
{
    if (is_open() && occupancy->blocks_per_sm > 0)
        launch->timing = timing_begin(gpu, launch, occupancy->blocks_per_sm,
                                      rt.settings.time_all ? 0 : MOST_PLAYED);
}

void time_end(Launch *launch, TimingResult *result)
{
    if (!launch->timing)
        return;
    *result = timing_end(launch->timing);
    launch->timing = NULL;
    launch->timed = launch->failed || !result->ms ? NULL : result;
}

void time_written(uint64_t address, size_t bytes)
{
    if (rt.settings.time && is_open())
        gpu_written(gpu, address, bytes);
}

/* ---- How long ---- */

static double bytes_of(const Work *work)
{
    return work->kind == WORK_COPY ? (double) work->copy.width * (double) work->copy.height
                                   : (double) work->fill.width * (double) work->fill.height;
}

static double transfer_ms(double bytes, double gbps)
{
    return rt.device.launch_us / 1e3 + bytes / (gbps * 1e6);
}

static double copy_ms(const CopyWork *copy, double bytes)
{
    const double gbps = rt.device.memory_gbps;

    if (copy->to_device && copy->from_device && !copy->staged)
        return transfer_ms(bytes, gbps * rt.device.memory_read_share) +
               bytes / (gbps * rt.device.memory_write_share * 1e6);
    return transfer_ms(bytes, rt.device.pcie_gbps);
}

static double modelled_ms(const Work *work)
{
    switch (work->kind) {
    case WORK_KERNEL:
        return work->ms;
    case WORK_COPY:
        return copy_ms(&work->copy, bytes_of(work));
    case WORK_FILL:
        return transfer_ms(bytes_of(work), rt.device.memory_gbps * rt.device.memory_write_share);
    default:
        return 0;
    }
}

double work_ms(const Work *work)
{
    if (rt.settings.time)
        return modelled_ms(work);
    switch (work->kind) {
    case WORK_KERNEL:
        return 1e-3 + (double) work->executed * 1e-6;
    case WORK_COPY:
    case WORK_FILL:
        return 1e-3 + bytes_of(work) * 1e-7;
    default:
        return 0;
    }
}
