/* gpu.c - the modelled GPU: its SMs, its memory, and what it prepares for each launch. */
#include "sim/time/earlier.h"
#include "sim/time/l2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond that, playing launches costs less than the memory is worth. */
enum { MOST_KEPT_BYTES = 128 << 20, MOST_STORED_BYTES = 256 << 20 };

/* ---- The GPU ---- */

/* Every result arrives as fast as the units' throughput allows. */
static void hide_latency(Device *device)
{
    device->alu_latency = device->fp64_latency = device->sfu_latency = 1;
    device->fp16_latency = 1;
    device->guard_latency = device->meeting_cycles = device->hidden_latency = 0;
    device->shuffle_latency = device->branch_latency = device->barrier_latency = 1;
    device->barrier_warp_cycles = device->vote_latency = 0;
    device->wide_product_latency = device->high_product_latency = 1;
    device->leaving_cycles = device->return_latency = device->indirect_latency = 0;
    device->shared_update_cycles = 1;
    device->shared_latency = device->l1_latency = device->local_latency = 1;
    device->store_latency = 1;
    device->l2_latency = device->memory_latency = device->memory_queue = 0;
    device->link_latency = 0;
    device->l2_spread = device->l2_far_latency = device->memory_spread = 0;
    device->block_start_cycles = 0;
}

void gpu_use_threads(Gpu *gpu, int threads)
{
    gpu->threads = threads;
}

Gpu *gpu_open(const Device *device)
{
    return gpu_open_without(device, 0);
}

Gpu *gpu_open_without(const Device *device, CauseSet without)
{
    Gpu *gpu = calloc(1, sizeof *gpu);
    bool well = gpu;

    if (!gpu)
        return NULL;
    gpu->device = *device;
    gpu->without = without;
    gpu->most_kept = MOST_KEPT_BYTES;
    gpu->most_stored = MOST_STORED_BYTES;
    if (has_cause(without, CAUSE_LATENCY))
        hide_latency(&gpu->device);
    gpu->sms = calloc((size_t) device->sms, sizeof *gpu->sms);
    well = gpu->sms &&
           memory_model_open(&gpu->memory, &gpu->device, has_cause(without, CAUSE_SECTORS)) &&
           l2_open(gpu) && earlier_open(gpu);
    for (int i = 0; i < device->sms && well; i++)
        well = sm_open(&gpu->sms[i], gpu, &gpu->memory);
    if (well)
        return gpu;
    gpu_close(gpu);
    return NULL;
}

static void drop_operations(Gpu *gpu)
{
    plans_clear(&gpu->plans);
    for (int i = 0; i < gpu->operations_count; i++)
        operations_free(&gpu->operations[i]);
    free(gpu->operations);
    free(gpu->spent);
    gpu->operations = NULL;
    gpu->spent = NULL;
    gpu->operations_count = 0;
}

static size_t room_of(const BlockTrace *trace)
{
    size_t bytes = 0;

    for (int i = 0; i < trace->warp_count; i++)
        bytes += (size_t) trace->warps[i].run_room * sizeof *trace->warps->runs +
                 (size_t) trace->warps[i].word_room * sizeof *trace->warps->words;
    return bytes;
}

void gpu_drop_spare(Gpu *gpu, size_t most)
{
    BlockTrace **at = &gpu->spare;

    for (size_t bytes = 0; most && *at && (bytes += room_of(*at)) <= most;)
        at = &(*at)->next;
    while (*at) {
        BlockTrace *trace = *at;
        *at = trace->next;
        trace_free(trace);
    }
}

void gpu_close(Gpu *gpu)
{
    if (!gpu)
        return;
    for (int i = 0; gpu->sms && i < gpu->device.sms; i++)
        if (gpu->sms[i].gpu)
            sm_close(&gpu->sms[i]);
    free(gpu->sms);
    memory_model_close(&gpu->memory);
    l2_close(gpu);
    earlier_close(gpu);
    gpu_drop_spare(gpu, 0);
    drop_operations(gpu);
    free(gpu);
}

/* ---- For a launch ---- */

/* The L1 is the part of the array that shared memory leaves free, but at least one unit. */
double gpu_l1_bytes(const Gpu *gpu, const Launch *launch, int resident)
{
    const double a_block = (double) launch->kernel->static_shared_bytes +
                           (double) launch->dynamic_shared_bytes +
                           gpu->device.shared_reserved_bytes;
    const double shared = fmax(resident * a_block, gpu->device.shared_least_bytes);
    const double left = gpu->device.l1_bytes - shared;

    return left > 4 * LINE_BYTES ? left : 4 * LINE_BYTES;
}

/* The machine code stalls its warp until results of arithmetic are there. */
static void hide_stalls(Operations *made, const Code *code)
{
    free(made->stalls);
    made->stalls = NULL;
    for (int i = 0; i < code->step_count; i++)
        if (made->operations[i].action == DO_SEQUENCE)
            made->operations[i].latency = made->operations[i].cycles;
}

bool gpu_add_operations(Gpu *gpu, const Launch *launch, int at, const Code *code)
{
    Operations *made = &gpu->operations[at];

    if (!operations_make(made, code, &gpu->device, 0, launch->lowering))
        return false;
    if (has_cause(gpu->without, CAUSE_LATENCY))
        hide_stalls(made, code);
    if (made->registers_used + made->registers_spare > gpu->registers)
        gpu->registers = made->registers_used + made->registers_spare;
    if (made->hoisted > gpu->hoisted)
        gpu->hoisted = made->hoisted;
    if (made->stack_words > gpu->stack_words)
        gpu->stack_words = made->stack_words;
    gpu->plans.by_lanes |= made->stack_words > 0;
    return true;
}

bool gpu_make_operations(Gpu *gpu, const Launch *launch)
{
    drop_operations(gpu);
    gpu->operations_count = launch->module->function_count + 1;
    gpu->operations = calloc((size_t) gpu->operations_count, sizeof *gpu->operations);
    gpu->spent = calloc((size_t) gpu->operations_count, sizeof *gpu->spent);
    gpu->plans.operations = gpu->operations;
    gpu->plans.register_reads = gpu->device.register_reads;
    gpu->plans.schedulers = gpu->device.sms * gpu->device.schedulers_per_sm;
    gpu->plans.packed = gpu->plans.by_lanes = has_cause(gpu->without, CAUSE_DIVERGENCE);
    gpu->registers = launch->kernel->function->register_count;
    gpu->stack_words = 0;
    gpu->hoisted = 0;
    gpu->failed = false;
    gpu->nowhere = (Spent){ 0 };
    memset(gpu->waits, 0, sizeof gpu->waits);
    return gpu->operations && gpu->spent && plans_make_room(&gpu->plans) &&
           gpu_add_operations(gpu, launch, 0, launch->kernel);
}
