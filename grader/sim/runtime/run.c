/* run.c - one piece of work: a kernel, a copy, a fill. */
#include "sim/check/check.h"
#include "sim/machine/path.h"
#include "sim/record/record.h"
#include "sim/runtime/runtime.h"
#include "sim/report/report.h"
#include "sim/report/trace.h"
#include "sim/time/timing.h"

#include <stdlib.h>
#include <string.h>

/* ---- Failing ---- */

/* The error that CUDA calls return after a failure of this kind. */
cudaError_t error_of_finding(FindingKind kind)
{
    static const cudaError_t errors[FINDINGS] = {
#define FINDING(kind, word, link, error) [FINDING_##kind] = error,
#include "sim/base/findings.def"
#undef FINDING
    };

    return errors[kind];
}

/* Makes all later calls return the error. */
void run_fail(cudaError_t error)
{
    if (!rt.sticky)
        rt.sticky = error;
}

/* ---- Kernels ---- */

/* The driver's workspace in which grid.sync() counts arrivals: its size, then the barrier. */
static uint64_t workspace(void)
{
    enum { BYTES = 64 };
    Allocation *allocation;

    if (!rt.workspace && (allocation = memory_allocate(BYTES, VARIABLE_GLOBAL, "grid barrier"))) {
        memset(allocation->host, 0, BYTES);
        memory_mark(allocation->base, BYTES, MARK_OK);
        rt.workspace = allocation->base;
    }
    return rt.workspace;
}

/* A different seed per launch, so that a kernel cannot know which blocks are checked. */
static uint64_t next_sample(void)
{
    if (rt.settings.races || rt.settings.uninitialised || !rt.settings.sample)
        return 0;
    return rt.settings.sample += 2; /* odd, so never 0 */
}

/* cudaLimitMallocHeapSize */
static size_t heap_limit(void)
{
    enum { USUAL = 8 << 20 };
    const size_t set = rt.limits[cudaLimitMallocHeapSize];

    return set ? set : USUAL;
}

static Launch launch_of(Work *work)
{
    /* A kernel that relies on unwritten memory gets different values in different orders. */
    static const uint8_t unwritten[] = { [SCHEDULE_REVERSE] = 0xa5, [SCHEDULE_RANDOM] = 0x5a };
    const KernelWork *kernel = &work->kernel;
    RtFunction *function = kernel->function;
    Launch launch = { .module = function->owner->module,
                      .codes = function->codes,
                      .kernel = function->code,
                      .lowering = function->lowering,
                      .name = function->plain,
                      .dynamic_shared_bytes = kernel->dynamic_shared_bytes,
                      .params = kernel->params,
                      .param_bytes = kernel->param_bytes,
                      .cooperative = kernel->cooperative,
                      .schedule = rt.settings.schedule,
                      .schedule_seed = rt.settings.schedule_seed,
                      .check_races = rt.settings.races,
                      .check_uninitialised = rt.settings.uninitialised,
                      .unwritten = unwritten[rt.settings.schedule],
                      .sample = next_sample(),
                      .budget = rt.settings.budget,
                      .shares = idle_watches_memory(),
                      .heap_bytes = heap_limit(),
                      .children = children_begin(work),
                      .sms = rt.device.sms,
                      .observers = { &check_observer } };

    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    memcpy(launch.cluster, kernel->cluster, sizeof launch.cluster);
    if (kernel->cooperative) {
        uint64_t address = workspace();
        launch.envreg[1] = (uint32_t) (address >> 32);
        launch.envreg[2] = (uint32_t) address;
    }
    return launch;
}

void run_kernel(Work *work)
{
    const KernelWork *kernel = &work->kernel;
    RtFunction *function = kernel->function;
    TimingResult time = { 0 };
    Launch launch = launch_of(work);
    const int threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    const Occupancy occupancy = function_occupancy(function, threads, kernel->dynamic_shared_bytes);
    const Occupancy timed = function_unspilled(function, threads, kernel->dynamic_shared_bytes);

    launch.resident = (long) occupancy.blocks_per_sm * rt.device.sms;
    rt.running = function->plain;
    progress_begin(&launch);
    managed_before_device();
    time_begin(&launch, &timed);
    record_launch(&launch);
    trace_launch(&launch, work->number);
    launch.walk = path_make(launch.lowering, launch.kernel);
    if (!launch_run(&launch))
        run_fail(error_of_finding(launch.failure));
    advice_launch(function->plain, kernel->grid, kernel->block);
    time_end(&launch, &time);
    trace_launched(&time);
    progress_end();
    rt.running = NULL;
    work->executed = launch.executed;
    work->ms = time.ms;
    work->kernel.use = time_use(kernel, &timed, &time);
    report_launch(&launch, function->has_resources ? &function->resources : NULL,
                  function->has_resources ? &occupancy : NULL);
    function->codes = launch.codes; /* the next launch reuses the code of called functions */
    launch.codes = NULL;
    path_free(launch.walk);
    launch_free(&launch);
}

/* ---- Copies ---- */

static char *device_bytes(uint64_t address, size_t bytes, bool writing)
{
    char where[200], *at = memory_range(address, bytes, writing);

    if (at || !bytes)
        return at;
    memory_describe(address, bytes, where, sizeof where);
    rt_finding(FINDING_USE_AFTER_FREE, true, NULL,
               "an asynchronous copy of %zu bytes at 0x%llx, executed when it was waited for: %s",
               bytes, (unsigned long long) address, where);
    run_fail(cudaErrorIllegalAddress);
    return NULL;
}

static char *side(uint64_t address, bool on_device, size_t bytes, bool writing)
{
    /* Pinned memory belongs to the host, but uninitialised reads of kernels are checked there, too.
     */
    if (on_device)
        return device_bytes(address, bytes, writing);
    if (writing)
        memory_range(address, bytes, true);
    return (char *) (uintptr_t) address;
}

/* The address of byte `x` of a row, and in `*run` how many bytes follow it in memory. */
static uint64_t place_of(const ArrayPlace *array, uint64_t address, size_t row, size_t slice,
                         size_t x, size_t *run)
{
    if (!is_array(array))
        return address + x;
    const size_t at = array->x + x, more = texels_run(&array->texels, at, *run);
    *run = more < *run ? more : *run;
    return texels_address(&array->texels, at, array->row + row, array->slice + slice);
}

static bool copy_run(const CopyWork *copy, uint64_t to_at, uint64_t from_at, const char *staged,
                     size_t bytes)
{
    char *to = side(to_at, copy->to_device, bytes, true);
    const char *from = staged ? staged : side(from_at, copy->from_device, bytes, false);

    if (!to || !from)
        return false;
    memmove(to, from, bytes);
    if (copy->to_device)
        time_written(to_at, copy->from_device && !copy->staged ? from_at : 0, bytes);
    if (copy->to_device && copy->from_device && !copy->staged)
        memory_copy_written(to_at, from_at, bytes);
    return true;
}

/* `number`: of the row, over all slices. */
static bool copy_row(const CopyWork *copy, size_t number)
{
    const size_t slice = number / copy->height, row = number % copy->height;
    const uint64_t to = copy->to + slice * copy->to_slice + row * copy->to_pitch;
    const uint64_t from = copy->from + slice * copy->from_slice + row * copy->from_pitch;
    const char *staged = copy->staged ? (char *) copy->staged + number * copy->width : NULL;

    for (size_t x = 0, run; x < copy->width; x += run) {
        run = copy->width - x;
        const uint64_t to_at = place_of(&copy->to_array, to, row, slice, x, &run);
        const uint64_t from_at = place_of(&copy->from_array, from, row, slice, x, &run);
        if (!copy_run(copy, to_at, from_at, staged ? staged + x : NULL, run))
            return false;
    }
    return true;
}

static bool copy_rows(const CopyWork *copy)
{
    for (size_t number = 0; number < copy->height * copy->depth; number++)
        if (!copy_row(copy, number))
            return false;
    return true;
}

void run_copy(const CopyWork *copy)
{
    const bool managed = managed_is_at(copy->to) || managed_is_at(copy->from);

    if (managed)
        managed_before_device();
    if (copy_rows(copy))
        advice_copy(copy);
    if (managed)
        managed_after_copy();
}

static void fill_rows(const FillWork *fill)
{
    for (size_t row = 0; row < fill->height; row++) {
        char *to = device_bytes(fill->to + row * fill->pitch, fill->width, true);
        if (!to)
            return;
        time_written(fill->to + row * fill->pitch, 0, fill->width);
        if (fill->value_bytes == 1)
            memset(to, fill->value[0], fill->width);
        else
            for (size_t i = 0; i < fill->width; i++)
                to[i] = (char) fill->value[i % (size_t) fill->value_bytes];
    }
}

void run_fill(const FillWork *fill)
{
    const bool managed = managed_is_at(fill->to);

    if (managed)
        managed_before_device();
    fill_rows(fill);
    if (managed)
        managed_after_copy();
}
