/* gpu.c - computes the time of a launch from the blocks that were played (sim/time/play.c).
 *
 * Of a large launch only the first waves are played. A wave that is left out is assumed to take as
 * long as one in the second half of the played waves, scaled by its instructions. The dirty lines
 * that such waves would have left in the L2 are accounted for.
 */
#include "sim/time/feed.h"
#include "sim/time/model.h"
#include "sim/time/play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_WAVES = 6,      /* minimum number of waves that are played */
    WORTH_THREADS = 50000 /* warp instructions, after which threads are started */
};

struct Timing {
    Gpu *gpu;
    Launch *launch;
    long blocks, begun, wave; /* wave: blocks that fit on all SMs together */
    uint64_t most_played;
    bool complete; /* all blocks that begin from now on are left out */
    bool failed;   /* out of memory, or the launch failed */
    WorkDone done; /* by the blocks played */
    Play play;
    Feed *feed;      /* NULL: blocks are played by the executor's thread */
    bool no_threads; /* feed_open has found that it cannot have one */
    BlockTrace *spare;
    bool reads_clocks; /* since a warp has read a clock */
    Clocks clocks;
};

/* ---- The GPU ---- */

/* Every result arrives as fast as the units' throughput allows. */
static void hide_latency(Device *device)
{
    device->alu_latency = device->fp64_latency = device->sfu_latency = 1;
    device->fp16_latency = 1;
    device->guard_latency = device->meeting_cycles = device->hidden_latency = 0;
    device->shuffle_latency = device->branch_latency = device->barrier_latency = 1;
    device->barrier_warp_cycles = device->vote_latency = 0;
    device->shared_update_cycles = 1;
    device->shared_latency = device->l1_latency = device->local_latency = 1;
    device->store_latency = 1;
    device->l2_latency = device->memory_latency = device->memory_queue = 0;
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
    if (has_cause(without, CAUSE_LATENCY))
        hide_latency(&gpu->device);
    gpu->sms = calloc((size_t) device->sms, sizeof *gpu->sms);
    well = gpu->sms &&
           memory_model_open(&gpu->memory, &gpu->device, has_cause(without, CAUSE_SECTORS));
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

void gpu_close(Gpu *gpu)
{
    if (!gpu)
        return;
    for (int i = 0; gpu->sms && i < gpu->device.sms; i++)
        if (gpu->sms[i].gpu)
            sm_close(&gpu->sms[i]);
    free(gpu->sms);
    memory_model_close(&gpu->memory);
    drop_operations(gpu);
    free(gpu);
}

/* SMs of both halves of the L2 copy in turn. */
static void copy_line(Gpu *gpu, uint64_t to, uint64_t from, bool reads)
{
    const unsigned all = (1u << SECTORS) - 1;

    if (has_cause(gpu->without, CAUSE_SECTORS)) {
        words_store(&gpu->memory, to, UINT32_MAX, 0);
        return;
    }
    if (reads)
        memory_load(&gpu->memory, (int) (to / 2 % 2), from, all, 0);
    memory_store(&gpu->memory, to, all, SECTOR_BYTES, 0);
}

/* Enters at most as many bytes as the L2 can hold. */
void gpu_written(Gpu *gpu, uint64_t to, uint64_t from, size_t bytes)
{
    const size_t most = (size_t) gpu->device.l2_bytes;
    const size_t left_out = bytes > most ? bytes - most : 0;
    const bool reads = from && from >= memory_base();

    if (to < memory_base())
        return;
    to += left_out - memory_base();
    from += left_out - memory_base();
    bytes -= left_out;
    memory_model_begin(&gpu->memory);
    for (uint64_t line = to / LINE_BYTES; line * LINE_BYTES < to + bytes; line++)
        copy_line(gpu, line, from / LINE_BYTES + line - to / LINE_BYTES, reads);
}

/* ---- A launch ---- */

/* The L1 is the part of the array that shared memory leaves free, but at least one unit. */
static double l1_bytes(const Gpu *gpu, const Launch *launch, int resident)
{
    const double a_block = (double) launch->kernel->static_shared_bytes +
                           (double) launch->dynamic_shared_bytes +
                           gpu->device.shared_reserved_bytes;
    const double shared = fmax(resident * a_block, gpu->device.shared_least_bytes);
    const double left = gpu->device.l1_bytes - shared;

    return left > 4 * LINE_BYTES ? left : 4 * LINE_BYTES;
}

static bool add_operations(Gpu *gpu, const Launch *launch, int at, const Code *code)
{
    Operations *made = &gpu->operations[at];

    if (!operations_make(made, code, &gpu->device, 0, launch->lowering))
        return false;
    if (made->registers_used + made->registers_spare > gpu->registers)
        gpu->registers = made->registers_used + made->registers_spare;
    if (made->hoisted > gpu->hoisted)
        gpu->hoisted = made->hoisted;
    if (made->stack_words > gpu->stack_words)
        gpu->stack_words = made->stack_words;
    gpu->plans.by_lanes |= made->stack_words > 0;
    return true;
}

static bool make_operations(Gpu *gpu, const Launch *launch)
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
           add_operations(gpu, launch, 0, launch->kernel);
}

/* Blocks per SM if only the number of warps limited it. */
static int places_for_warps(const Gpu *gpu, const Launch *launch, int resident)
{
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    const int warps = (threads + LANES - 1) / LANES;
    const int places = gpu->device.threads_per_sm / LANES / warps;

    return places > resident ? places : resident;
}

static void read_clock(Warp *warp, uint64_t *cycles, uint64_t *ns);

Timing *timing_begin(Gpu *gpu, Launch *launch, int resident, uint64_t most_played)
{
    Timing *timing = calloc(1, sizeof *timing);
    const int places = has_cause(gpu->without, CAUSE_OCCUPANCY)
                           ? places_for_warps(gpu, launch, resident)
                           : resident;
    bool well;

    if (!timing)
        return NULL;
    *timing = (Timing){ .gpu = gpu, .launch = launch, .most_played = most_played };
    timing->blocks = (long) launch->grid[0] * launch->grid[1] * launch->grid[2];
    timing->wave = (long) places * gpu->device.sms;
    gpu->watched = NULL;
    gpu->stack_places = (uint64_t) (timing->wave > 0 ? timing->wave : 1);
    launch->trace_words = has_cause(gpu->without, CAUSE_SECTORS);
    launch->read_clock = read_clock;
    memory_model_begin(&gpu->memory);
    well = play_open(&timing->play, gpu, launch, places, timing->blocks) && resident > 0 &&
           make_operations(gpu, launch);
    for (int i = 0; i < gpu->device.sms && well; i++)
        well = sm_begin(&gpu->sms[i], l1_bytes(gpu, launch, resident));
    timing->failed = !well;
    return timing;
}

/* ---- Traces ---- */

static void give_back(Timing *timing, BlockTrace *trace)
{
    for (int i = 0; i < trace->warp_count; i++)
        clock_forget_warp(&timing->clocks, &trace->warps[i]);
    trace_clear(trace);
    trace->next = timing->spare;
    timing->spare = trace;
}

/* Makes traces spare whose blocks have been played. */
static void take_played(Timing *timing)
{
    BlockTrace *played = play_take(&timing->play), *next;

    for (; played; played = next) {
        next = played->next;
        give_back(timing, played);
    }
}

/* ---- Clocks ---- */

/* Called when a block has ended, or reads a clock: only then are the functions known that it
 * called. */
static bool all_operations(Timing *timing)
{
    Gpu *gpu = timing->gpu;
    Code **codes = timing->launch->codes;

    for (int i = 0; codes && i < gpu->operations_count - 1; i++) {
        if (!codes[i] || gpu->operations[i + 1].code)
            continue;
        if (timing->feed)
            feed_wait(timing->feed);
        if (!add_operations(gpu, timing->launch, i + 1, codes[i]))
            return false;
    }
    return true;
}

static int resident_warps(const Timing *timing)
{
    const Launch *launch = timing->launch;
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    const long sms = timing->gpu->device.sms, share = (timing->blocks + sms - 1) / sms;
    const long blocks = share < timing->play.places ? share : timing->play.places;

    return (int) blocks * ((threads + LANES - 1) / LANES);
}

static bool open_clocks(Timing *timing)
{
    if (!timing->reads_clocks)
        timing->reads_clocks =
            clock_open(&timing->clocks, timing->gpu, resident_warps(timing),
                       l1_bytes(timing->gpu, timing->launch, timing->play.places));
    return timing->reads_clocks;
}

static void read_clock(Warp *warp, uint64_t *cycles, uint64_t *ns)
{
    Timing *timing = warp->block->launch->timing;
    Gpu *gpu = timing->gpu;
    const double mhz = gpu->device.sm_mhz;
    double now = (double) warp->block->launch->slept * mhz / 1e3 + gpu->cycles;

    if (timing->feed) /* the estimate begins where the model is */
        feed_wait(timing->feed);
    if (warp->trace && all_operations(timing) && open_clocks(timing))
        now += (double) clock_read(&timing->clocks, warp->trace, warp->block->trace->begins);
    else
        now += (double) timing->play.horizon;
    *cycles = (uint64_t) now;
    *ns = (uint64_t) (now * 1e3 / mhz);
}

/* ---- Events from the executor ---- */

/* Whether an observer wants to know about the launch's warps; they are complete now. */
static void launch_begin(Launch *launch)
{
    Gpu *gpu = launch->timing ? launch->timing->gpu : NULL;

    for (const Observer *const *observer = launch->observers; gpu && *observer; observer++)
        if ((*observer)->warp_played)
            gpu->watched = launch;
}

/* Whether enough blocks were played. After the limit of instructions, whole waves are left out. */
static bool is_enough(const Timing *timing)
{
    return timing->most_played && timing->launch->executed >= timing->most_played &&
           timing->begun >= LEAST_WAVES * timing->wave &&
           (timing->blocks - timing->begun) % timing->wave == 0 && timing->begun < timing->blocks;
}

static BlockTrace *new_trace(Timing *timing, int warps)
{
    BlockTrace *trace;

    take_played(timing);
    trace = timing->spare;
    if (trace) {
        timing->spare = trace->next;
        trace->next = NULL;
        return trace;
    }
    trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->warps = calloc((size_t) warps, sizeof *trace->warps);
    trace->warp_count = warps;
    if (trace->warps)
        return trace;
    free(trace);
    return NULL;
}

static void begin_trace(Timing *timing, BlockTrace *trace, long number)
{
    const BlockStart start = { timing->begun++, timing->launch->executed, timing->most_played };

    trace->block = number;
    if (timing->feed)
        feed_begin(timing->feed, trace, &start);
    else
        play_begin(&timing->play, trace, &start);
}

static void block_begin(Block *block)
{
    Timing *timing = block->launch->timing;

    block->trace = NULL;
    if (timing && !timing->complete && is_enough(timing)) {
        timing->complete = true;
        timing->done = work_done(timing->launch);
    }
    if (timing && !timing->complete && !timing->failed) {
        block->trace = new_trace(timing, block->warp_count);
        timing->failed |= !block->trace;
        if (block->trace)
            begin_trace(timing, block->trace, block->number);
    }
    for (int i = 0; i < block->warp_count; i++)
        trace_into(&block->warps[i], block->trace ? &block->trace->warps[i] : NULL);
}

static void block_end(Block *block)
{
    Timing *timing = block->launch->timing;
    BlockTrace *trace = block->trace;

    if (!trace)
        return;
    block->trace = NULL;
    for (int i = 0; i < block->warp_count; i++)
        trace_into(&block->warps[i], NULL);
    if (block->launch->failed || trace->incomplete || timing->failed || !all_operations(timing)) {
        timing->failed = true;
        give_back(timing, trace);
        return;
    }
    if (!timing->feed && timing->launch->executed >= WORTH_THREADS && !timing->no_threads) {
        timing->feed = feed_open(&timing->play, timing->wave);
        timing->no_threads = !timing->feed;
    }
    if (timing->feed)
        feed_block(timing->feed, trace);
    else
        play_block(&timing->play, trace);
}

const Observer timing_observer = { .launch_begin = launch_begin,
                                   .block_begin = block_begin,
                                   .block_end = block_end };

/* ---- The end ---- */

/* Cycles of the blocks that were left out. */
static double left_out(const Timing *timing)
{
    const long played = timing->play.placed, rest = timing->blocks - played;
    const uint64_t *starts = timing->play.starts;
    const long waves = played / timing->wave / 2, window = waves * timing->wave;
    const WorkDone all = work_done(timing->launch);
    WorkDone others;
    double a_block, cycles;

    if (!timing->complete || rest <= 0 || window <= 0 || window >= played)
        return 0;
    a_block = (double) (starts[played - 1] - starts[played - 1 - window]) / (double) window;
    for (int i = 0; i < WORK_KINDS; i++)
        others.of[i] = all.of[i] - timing->done.of[i];
    cycles = (double) rest * a_block *
             work_ratio(&timing->done, (double) played, &others, (double) rest);
    return work_is_new(&timing->done, (double) played, &others, (double) rest)
               ? fmax(cycles, work_least_cycles(timing->gpu, &others))
               : cycles;
}

/* Leaves the L2 as if all blocks had been played. */
static void displace_left_out(const Timing *timing)
{
    Memory *memory = &timing->gpu->memory;
    const double placed = (double) timing->play.placed, rest = (double) timing->blocks - placed;

    if (timing->complete && rest > 0 && placed > 0)
        cache_displace(&memory->l2, (double) memory->lines_in * rest / placed);
}

static void play_rest_of(Timing *timing)
{
    if (timing->feed)
        feed_close(timing->feed, !timing->failed);
    else if (!timing->failed)
        play_rest(&timing->play);
    timing->feed = NULL;
    timing->failed |= timing->play.failed || timing->clocks.sm.failed;
    take_played(timing);
}

TimingResult timing_end(Timing *timing)
{
    Gpu *gpu = timing->gpu;
    TimingResult result = { .blocks = timing->blocks };

    play_rest_of(timing);
    result.timed = timing->play.placed;
    for (int i = 0; i < gpu->device.sms; i++) {
        result.instructions += gpu->sms[i].issued;
        result.l1_hits += gpu->sms[i].l1_hits;
        result.l1_misses += gpu->sms[i].l1_misses;
    }
    result.l2_hits = gpu->memory.l2_hits;
    result.l2_misses = gpu->memory.l2_misses;
    result.memory_read_bytes = gpu->memory.read_bytes;
    result.memory_write_bytes = gpu->memory.write_bytes;
    if (!timing->failed && !gpu->failed) {
        result.cycles = (double) timing->play.ends + left_out(timing);
        limits_end(gpu, left_out(timing), &result);
        displace_left_out(timing);
        if (has_cause(gpu->without, CAUSE_TAIL))
            limits_drop_tail(gpu, play_even_cycles(&timing->play) + left_out(timing), &result);
        result.ms = gpu->device.launch_us / 1e3 + result.cycles / (gpu->device.sm_mhz * 1e3);
    }
    gpu->cycles += result.cycles;
    timing->launch->read_clock = NULL;
    if (timing->reads_clocks)
        clock_close(&timing->clocks);
    while (timing->spare) {
        BlockTrace *trace = timing->spare;
        timing->spare = trace->next;
        trace_free(trace);
    }
    play_close(&timing->play);
    free(timing);
    return result;
}
