/* query.c - the functions of query.h: marks, findings and counts. */
#include "sim/runtime/query.h"
#include "sim/report/totals.h"
#include "sim/runtime/runtime.h"

/* ---- Access rights and names of allocations ---- */

API int simMark(void *pointer, size_t bytes, int kind)
{
    bool done = false;

    if (kind < MARK_OK || kind > MARK_UNINIT)
        return 0;
    if (!rt_enter(true)) {
        finish_all();
        done = memory_mark((uint64_t) (uintptr_t) pointer, bytes, (MarkKind) kind);
    }
    rt_leave(cudaSuccess);
    return done;
}

API int simName(void *pointer, const char *name, size_t row_bytes)
{
    Allocation *allocation = NULL;

    if (!rt_enter(true))
        allocation = memory_find((uint64_t) (uintptr_t) pointer);
    if (allocation && allocation->base == (uint64_t) (uintptr_t) pointer) {
        allocation->label = name;
        allocation->row_bytes = row_bytes;
    } else
        allocation = NULL;
    rt_leave(cudaSuccess);
    return allocation != NULL;
}

API void simChecks(int on, uint64_t budget)
{
    if (!rt_enter(false)) {
        finish_all();
        rt.settings.races = rt.settings.uninitialised = on != 0;
        rt.settings.budget = budget;
    }
    rt_leave(cudaSuccess);
}

API void simSample(uint64_t seed)
{
    if (!rt_enter(false)) {
        finish_all();
        rt.settings.sample = seed ? seed | 1 : 0;
    }
    rt_leave(cudaSuccess);
}

API void simOrder(SimOrder order, uint64_t seed)
{
    static const Schedule schedules[] = {
        [SIM_FORWARD] = SCHEDULE_FORWARD,
        [SIM_REVERSE] = SCHEDULE_REVERSE,
        [SIM_BY_CHANCE] = SCHEDULE_RANDOM,
    };

    if (!rt_enter(false)) {
        finish_all();
        rt.settings.schedule = schedules[order];
        rt.settings.schedule_seed = rt.chance = seed;
    }
    rt_leave(cudaSuccess);
}

/* ---- Time ---- */

API void simTime(CauseSet without)
{
    if (!rt_enter(false)) {
        finish_all();
        rt.settings.time = true;
        memory_follow();
        rt.settings.without = without;
        time_cold();
    }
    rt_leave(cudaSuccess);
}

API void simTimes(SimTimes *times)
{
    const Report *report = report_so_far();

    *times = (SimTimes){ 0 };
    for (int k = 0; k < report->kernel_count; k++) {
        const Kernel *kernel = report->kernels[k];
        times->launches += kernel->launches;
        times->untimed += kernel->launches - kernel->timed;
        times->blocks += (uint64_t) kernel->time.blocks;
        times->timed_blocks += (uint64_t) kernel->time.timed;
        times->instructions += kernel->totals.executed;
        times->kernels_ms += kernel->time.ms;
    }
}

/* ---- Findings ---- */

API int simFinding(int i, Finding *copy)
{
    const Finding *found = finding_at(i);

    if (found)
        *copy = *found;
    return found != NULL;
}

API const char *simWord(FindingKind kind)
{
    return finding_word(kind);
}

API void simForget(void)
{
    if (!rt_enter(false))
        finish_all();
    finding_reset();
    report_clear();
    time_cold();
    if (rt.open)
        report_device(&rt.device);
    rt_leave(cudaSuccess);
}

/* ---- Counts ---- */

static SimTraffic traffic_of(const Traffic *traffic)
{
    return (SimTraffic){ traffic->requests, traffic->passes, traffic->asked };
}

static void add(SimTraffic *sum, const Traffic *more)
{
    sum->requests += more->requests;
    sum->passes += more->passes;
    sum->asked += more->asked;
}

static SimLine line_of(const Report *report, const LineTotals *from)
{
    const Totals *totals = &from->totals;
    SimLine line = {
        .file = from->file ? report->files[from->file] : NULL,
        .line = from->line,
        .instructions = totals->executed,
        .lanes = totals->lanes,
        .ffma_lanes = totals->ffma_lanes,
        .barriers = totals->classes[CLASS_BARRIER],
        .global_load = traffic_of(&totals->global[KIND_LOAD]),
        .global_store = traffic_of(&totals->global[KIND_STORE]),
        .global_atomic = traffic_of(&totals->global[KIND_ATOMIC]),
        .spent = from->spent,
    };

    add(&line.global_load, &totals->global[KIND_COPY]);
    for (int kind = 0; kind < KINDS; kind++)
        add(&line.shared, &totals->shared[kind]);
    return line;
}

API int simLine(int i, SimLine *line)
{
    const Report *report = report_so_far();

    for (int k = 0; k < report->kernel_count; k++) {
        const Kernel *kernel = report->kernels[k];
        if (i >= 0 && i < kernel->line_count) {
            *line = line_of(report, &kernel->lines[i]);
            return 1;
        }
        i -= kernel->line_count;
    }
    return 0;
}

static void add_array(const ArrayCount *array, SimTraffic *load, SimTraffic *store,
                      SimTraffic *atomic)
{
    add(load, &(Traffic){ array->load_requests, array->load_sectors, array->load_bytes });
    add(store, &(Traffic){ array->store_requests, array->store_sectors, array->store_bytes });
    add(atomic, &(Traffic){ array->atomic_requests, array->atomic_sectors, array->atomic_bytes });
}

API int simArray(const void *pointer, SimTraffic *load, SimTraffic *store, SimTraffic *atomic)
{
    const Report *report = report_so_far();
    int found = 0;

    *load = *store = *atomic = (SimTraffic){ 0 };
    for (int k = 0; k < report->kernel_count; k++)
        for (int a = 0; a < report->kernels[k]->array_count; a++)
            if (report->kernels[k]->arrays[a].base == (uint64_t) (uintptr_t) pointer) {
                add_array(&report->kernels[k]->arrays[a], load, store, atomic);
                found = 1;
            }
    return found;
}

static SimLine line_of_array(const Report *report, const LineArray *from)
{
    SimLine line = { .file = from->file ? report->files[from->file] : NULL, .line = from->line };

    add_array(&from->count, &line.global_load, &line.global_store, &line.global_atomic);
    return line;
}

API int simArrayLine(const void *pointer, int i, SimLine *line)
{
    const Report *report = report_so_far();

    for (int k = 0; k < report->kernel_count; k++)
        for (int a = 0; a < report->kernels[k]->line_array_count; a++) {
            const LineArray *at = &report->kernels[k]->line_arrays[a];
            if (at->count.base == (uint64_t) (uintptr_t) pointer && i-- == 0) {
                *line = line_of_array(report, at);
                return 1;
            }
        }
    return 0;
}

API int simLimits(Limits *limits, SimRoofs *roofs)
{
    bool known = false;

    *limits = (Limits){ .lanes = 0 };
    *roofs = (SimRoofs){ 0 };
    if (!rt_enter(false)) {
        finish_all();
        clock_report();
        known = rt.settings.time && report_limits(report_so_far(), limits);
        *roofs = (SimRoofs){ rt.device.fp32_tflops, rt.device.memory_gbps };
    }
    rt_leave(cudaSuccess);
    return known;
}
