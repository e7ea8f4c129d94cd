/* timing.c - computes the time of a launch from the blocks that were played (sim/time/play.c).
 *
 * Of a large launch only the first waves are played. A wave that is left out is assumed to take as
 * long as one in the second half of the played waves, scaled by its instructions. The dirty lines
 * that such waves would have left in the L2 are accounted for.
 *
 * A launch that repeats an earlier one is not played (sim/time/follow.h).
 */
#include "sim/exec/ahead.h"
#include "sim/time/feed.h"
#include "sim/time/follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_WAVES = 6,       /* minimum number of waves that are played */
    PLAYERS = 2,           /* threads that model time while blocks are played */
    WORTH_THREADS = 50000, /* warp instructions of a launch that is played on threads */
    SPARE_BYTES = 16 << 20 /* of traces that are kept for the next launch */
};

struct Timing {
    Gpu *gpu;
    Launch *launch;
    int resident, places;     /* blocks per SM; for which the SM has places */
    long blocks, begun, wave; /* wave: blocks that fit on all SMs together */
    uint64_t most_played;
    int warps;     /* per block */
    bool complete; /* all blocks that begin from now on are left out */
    bool failed;   /* out of memory, or the launch failed */
    WorkDone done; /* by the blocks played */
    Follow follow;
    Play play;
    bool is_open;      /* `play` is: the launch does not repeat an earlier one */
    Feed *feed;        /* NULL: blocks are played by the executor's thread */
    bool no_threads;   /* feed_open has found that it cannot have one */
    bool reads_clocks; /* since a warp has read a clock */
    Clocks clocks;
};

/* ---- The beginning ---- */

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

    if (!timing)
        return NULL;
    *timing =
        (Timing){ .gpu = gpu, .launch = launch, .resident = resident, .most_played = most_played };
    timing->places = has_cause(gpu->without, CAUSE_OCCUPANCY)
                         ? places_for_warps(gpu, launch, resident)
                         : resident;
    timing->blocks = (long) launch->grid[0] * launch->grid[1] * launch->grid[2];
    timing->wave = (long) timing->places * gpu->device.sms;
    timing->failed = resident <= 0;
    gpu->watched = NULL;
    launch->trace_words = has_cause(gpu->without, CAUSE_SECTORS);
    launch->read_clock = read_clock;
    return timing;
}

/* Before the first block is played. */
static void open_play(Timing *timing)
{
    Gpu *gpu = timing->gpu;
    const Launch *launch = timing->launch;
    const double l1_bytes = gpu_l1_bytes(gpu, launch, timing->resident);
    bool well;

    timing->is_open = true;
    gpu->stack_places = (uint64_t) (timing->wave > 0 ? timing->wave : 1);
    l2_play(gpu);
    memory_model_begin(&gpu->memory);
    well = play_open(&timing->play, gpu, timing->launch, timing->places, timing->blocks,
                     timing->most_played && !has_cause(gpu->without, CAUSE_SECTORS) &&
                         !play_is_observed(launch)) &&
           gpu_make_operations(gpu, launch);
    for (int i = 0; i < gpu->device.sms && well; i++)
        well = sm_begin(&gpu->sms[i], l1_bytes);
    timing->failed |= !well;
}

/* ---- Traces ---- */

static void give_back(Timing *timing, BlockTrace *trace)
{
    for (int i = 0; i < trace->warp_count; i++)
        clock_forget_warp(&timing->clocks, &trace->warps[i]);
    trace_clear(trace);
    trace->next = timing->gpu->spare;
    timing->gpu->spare = trace;
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

static BlockTrace *new_trace(Timing *timing, int warps)
{
    Gpu *gpu = timing->gpu;
    BlockTrace *trace;

    take_played(timing);
    if (gpu->spare && gpu->spare->warp_count != warps)
        gpu_drop_spare(gpu, 0);
    trace = gpu->spare;
    if (trace) {
        gpu->spare = trace->next;
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

/* ---- Playing ---- */

/* Called when a block has ended, or reads a clock: only then are the functions known that it
 * called. `only`: these of them; NULL: all. */
static bool add_operations(Timing *timing, const bool *only)
{
    Gpu *gpu = timing->gpu;
    Code **codes = timing->launch->codes;

    for (int i = 0; codes && i < gpu->operations_count - 1; i++) {
        if (!codes[i] || gpu->operations[i + 1].code || (only && !only[i]))
            continue;
        if (timing->feed)
            feed_wait(timing->feed);
        if (!gpu_add_operations(gpu, timing->launch, i + 1, codes[i]))
            return false;
    }
    return true;
}

static void begin_block(Timing *timing, BlockTrace *trace, const BlockStart *start)
{
    if (timing->feed)
        feed_begin(timing->feed, trace, start);
    else
        play_begin(&timing->play, trace, start);
}

/* The instructions of all blocks, if the others are like those so far. */
static double expected(const Timing *timing)
{
    return (double) timing->launch->executed / (double) timing->begun * (double) timing->blocks;
}

static void end_block(Timing *timing, BlockTrace *trace)
{
    if (!timing->feed && !timing->no_threads && expected(timing) >= WORTH_THREADS) {
        timing->feed = feed_open(&timing->play, timing->wave);
        timing->no_threads = !timing->feed;
    }
    if (timing->feed)
        feed_block(timing->feed, trace);
    else
        play_block(&timing->play, trace);
}

/* ---- Blocks that have not been played, since they repeat those of an earlier launch ---- */

/* Takes the block with this number out of a list; NULL: it is not there. */
static BlockTrace *take_block(BlockTrace **at, long number)
{
    while (*at && (*at)->block != number)
        at = &(*at)->next;
    BlockTrace *trace = *at;
    if (trace)
        *at = trace->next;
    return trace;
}

/* A block that is still running has its trace already. */
static bool begin_kept(Timing *timing, const BacklogEvent *event, BlockTrace **begun)
{
    BlockTrace *trace = take_block(&timing->follow.running, event->block);
    const bool is_running = trace;

    if (!trace)
        trace = new_trace(timing, timing->warps);
    if (!trace)
        return false;
    trace->block = event->block;
    trace->next = NULL;
    begin_block(timing, trace, &event->start);
    if (!is_running) {
        trace->next = *begun;
        *begun = trace;
    }
    return true;
}

static bool end_kept(Timing *timing, const BacklogEvent *event, const Backlog *kept,
                     BlockTrace **begun)
{
    BlockTrace *trace = take_block(begun, event->block);

    if (!backlog_get(kept, event, trace) || !add_operations(timing, timing->follow.first_codes)) {
        give_back(timing, trace);
        return false;
    }
    trace->next = NULL;
    end_block(timing, trace);
    return true;
}

/* Plays all that the launch has done so far, if it has not been played. */
static void play_kept(Timing *timing)
{
    Follow *follow = &timing->follow;
    const BacklogEvent *event;
    const Backlog *kept;
    BlockTrace *begun = NULL;

    if (timing->is_open)
        return;
    open_play(timing);
    for (long i = 0; (event = follow_event(follow, i, &kept)) && !timing->failed; i++)
        timing->failed = !(event->ended ? end_kept(timing, event, kept, &begun)
                                        : begin_kept(timing, event, &begun));
    while (begun) {
        BlockTrace *trace = begun;
        begun = trace->next;
        give_back(timing, trace);
    }
    follow_played(follow);
}

/* ---- Clocks ---- */

static int warps_of_block(const Timing *timing)
{
    const Launch *launch = timing->launch;

    return (launch->block[0] * launch->block[1] * launch->block[2] + LANES - 1) / LANES;
}

static int resident_warps(const Timing *timing)
{
    const long sms = timing->gpu->device.sms, share = (timing->blocks + sms - 1) / sms;
    const long blocks = share < timing->places ? share : timing->places;

    return (int) blocks * warps_of_block(timing);
}

static bool open_clocks(Timing *timing)
{
    if (!timing->reads_clocks)
        timing->reads_clocks =
            clock_open(&timing->clocks, timing->gpu, warps_of_block(timing), resident_warps(timing),
                       gpu_l1_bytes(timing->gpu, timing->launch, timing->places));
    return timing->reads_clocks;
}

static void read_clock(Warp *warp, uint64_t *cycles, uint64_t *ns)
{
    Timing *timing = warp->block->launch->timing;
    Gpu *gpu = timing->gpu;
    const double mhz = gpu->device.sm_mhz;
    double now = (double) warp->block->launch->slept * mhz / 1e3 + gpu->cycles;

    play_kept(timing);
    follow_stop(&timing->follow);
    if (timing->feed) /* the estimate begins where the model is */
        feed_wait(timing->feed);
    sample_stop(&timing->play.sample);
    if (warp->trace && add_operations(timing, NULL) && open_clocks(timing))
        now += (double) clock_read(&timing->clocks, warp->trace, warp->block->trace->begins);
    else
        now += (double) timing->play.horizon;
    *cycles = (uint64_t) now;
    *ns = (uint64_t) (now * 1e3 / mhz);
}

/* ---- Events from the executor ---- */

/* The launch's observers are complete now. */
static void launch_begin(Launch *launch)
{
    Timing *timing = launch->timing;

    for (const Observer *const *observer = launch->observers; timing && *observer; observer++)
        if ((*observer)->warp_played)
            timing->gpu->watched = launch;
    if (timing && !timing->failed && !play_is_observed(launch))
        follow_begin(&timing->follow, timing->gpu, launch, timing->resident, timing->most_played);
}

/* Whether enough blocks were played. After the limit of instructions, whole waves are left out. */
static bool is_enough(const Timing *timing)
{
    return timing->most_played && timing->launch->executed >= timing->most_played &&
           timing->begun >= LEAST_WAVES * timing->wave &&
           (timing->blocks - timing->begun) % timing->wave == 0 && timing->begun < timing->blocks;
}

static void begin_trace(Timing *timing, BlockTrace *trace, long number)
{
    const BlockStart start = { timing->begun++, timing->launch->executed, timing->most_played };

    trace->block = number;
    if (!follow_block_began(&timing->follow, trace, &start) || timing->follow.mode != REPEATS)
        play_kept(timing);
    if (timing->is_open && !timing->failed)
        begin_block(timing, trace, &start);
}

static void judge_complete(Timing *timing)
{
    if (!timing->complete && is_enough(timing)) {
        timing->complete = true;
        timing->done = work_done(timing->launch);
    }
}

static void block_begin(Block *block)
{
    Timing *timing = block->launch->timing;

    block->trace = NULL;
    if (timing)
        judge_complete(timing);
    if (timing && !timing->complete && !timing->failed) {
        timing->warps = block->warp_count;
        block->trace = new_trace(timing, block->warp_count);
        timing->failed |= !block->trace;
        if (block->trace)
            begin_trace(timing, block->trace, block->number);
    }
    for (int i = 0; i < block->warp_count; i++)
        trace_into(&block->warps[i], block->trace ? &block->trace->warps[i] : NULL);
}

static void end_trace(Timing *timing, BlockTrace *trace)
{
    if (timing->launch->failed || trace->incomplete) {
        play_kept(timing);
        timing->failed = true;
    }
    if (timing->failed || follow_block_ended(&timing->follow, trace, timing->launch)) {
        give_back(timing, trace);
        return;
    }
    play_kept(timing);
    if (timing->failed || !add_operations(timing, NULL)) {
        timing->failed = true;
        give_back(timing, trace);
        return;
    }
    end_block(timing, trace);
}

static void block_end(Block *block)
{
    BlockTrace *trace = block->trace;

    if (!trace)
        return;
    block->trace = NULL;
    for (int i = 0; i < block->warp_count; i++)
        trace_into(&block->warps[i], NULL);
    end_trace(block->launch->timing, trace);
}

/* ---- Blocks that have run ahead ---- */

/* Nothing is played before the first wave has been executed. */
static bool is_playing(const Timing *timing)
{
    return timing->is_open && !timing->complete && timing->begun >= timing->wave;
}

/* While blocks are played, two threads have enough to do with that (feed.h, crew.h). */
static int ahead_threads(const Launch *launch)
{
    const Timing *timing = launch->timing;

    if (!timing || play_is_observed(launch))
        return 0;
    return timing->gpu->threads - (is_playing(timing) ? PLAYERS : 0);
}

/* Before some waves it may turn out that enough blocks were played. */
static long ahead_together(const Launch *launch, long block)
{
    const Timing *timing = launch->timing;
    const long left = timing->blocks - block, before = left % timing->wave;

    return before ? before : timing->wave;
}

static BlockTrace *ahead_trace(Launch *launch)
{
    Timing *timing = launch->timing;
    const bool is_needed = !timing->complete && !timing->failed;
    BlockTrace *trace = is_needed ? new_trace(timing, timing->warps) : NULL;

    if (trace)
        trace->wants_digest = timing->follow.mode != NOT_FOLLOWED;
    return trace;
}

static void ahead_ran(BlockTrace *trace)
{
    if (trace->wants_digest)
        follow_digest(trace);
}

static void ahead_drop(Launch *launch, BlockTrace *trace)
{
    if (trace)
        give_back(launch->timing, trace);
}

static BlockTrace *ahead_began(Launch *launch, long block, BlockTrace *trace)
{
    Timing *timing = launch->timing;

    judge_complete(timing);
    timing->failed |= !timing->complete && !trace;
    if (timing->complete || timing->failed) {
        ahead_drop(launch, trace);
        return NULL;
    }
    begin_trace(timing, trace, block);
    return trace;
}

static void ahead_ended(Launch *launch, BlockTrace *trace)
{
    if (trace)
        end_trace(launch->timing, trace);
}

static const AheadCalls ahead_calls = { .threads = ahead_threads,
                                        .together = ahead_together,
                                        .trace = ahead_trace,
                                        .ran = ahead_ran,
                                        .began = ahead_began,
                                        .ended = ahead_ended,
                                        .drop = ahead_drop };

const Observer timing_observer = { .launch_begin = launch_begin,
                                   .block_begin = block_begin,
                                   .block_end = block_end,
                                   .ahead = &ahead_calls };

/* ---- The end ---- */

/* Cycles of the blocks after those that were traced. */
static double not_traced(const Timing *timing)
{
    const long played = timing->play.placed, rest = timing->blocks - timing->begun;
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
             work_ratio(&timing->done, (double) timing->begun, &others, (double) rest);
    return work_is_new(&timing->done, (double) timing->begun, &others, (double) rest)
               ? fmax(cycles, work_least_cycles(timing->gpu, &others))
               : cycles;
}

/* Cycles of the blocks that were left out. */
static double left_out(const Timing *timing)
{
    return timing->play.sample.cycles + not_traced(timing);
}

/* Leaves the L2 as if all blocks had been played. */
static void displace_left_out(const Timing *timing)
{
    Memory *memory = &timing->gpu->memory;
    const double begun = (double) timing->begun, rest = (double) timing->blocks - begun;

    if (timing->complete && rest > 0 && begun > 0)
        cache_displace(&memory->l2, (double) memory->lines_in * rest / begun);
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

/* Hits and misses are counted for the blocks played, bytes of memory also for those left out. */
static void add_counters(const Timing *timing, TimingResult *result)
{
    const Gpu *gpu = timing->gpu;
    const double played = timing->begun ? (double) timing->play.placed / (double) timing->begun : 1;

    for (int i = 0; i < gpu->device.sms; i++) {
        result->instructions += gpu->sms[i].issued;
        result->l1_hits += gpu->sms[i].l1_hits;
        result->l1_misses += gpu->sms[i].l1_misses;
    }
    result->l2_hits = gpu->memory.l2_hits;
    result->l2_misses = gpu->memory.l2_misses;
    result->memory_read_bytes = gpu->memory.read_bytes * played;
    result->memory_write_bytes = gpu->memory.write_bytes * played;
}

static TimingResult result_of(Timing *timing)
{
    Gpu *gpu = timing->gpu;
    TimingResult result = { .blocks = timing->blocks };

    play_rest_of(timing);
    result.timed = timing->play.placed;
    add_counters(timing, &result);
    if (timing->failed || gpu->failed)
        return result;
    result.cycles = (double) timing->play.ends + left_out(timing);
    limits_end(gpu, left_out(timing), &result);
    displace_left_out(timing);
    if (has_cause(gpu->without, CAUSE_TAIL))
        limits_drop_tail(gpu, play_even_cycles(&timing->play) + left_out(timing), &result);
    result.resident = (int) fmin((double) timing->blocks, (double) timing->wave);
    result.tail = play_tail(&timing->play, result.cycles);
    result.ms = gpu->device.launch_us / 1e3 + result.cycles / (gpu->device.sm_mhz * 1e3);
    return result;
}

/* Of what the result depends on besides the traces: blocks that were left out. */
static Digest digest_rest(const Timing *timing)
{
    const WorkDone all = timing->complete ? work_done(timing->launch) : (WorkDone){ { 0 } };
    Digester digester;

    digest_begin(&digester);
    digest_word(&digester, timing->complete);
    digest_word(&digester, (uint64_t) timing->begun);
    digest_bytes(&digester, &timing->done, sizeof timing->done);
    digest_bytes(&digester, &all, sizeof all);
    return digest_of(&digester);
}

TimingResult timing_end(Timing *timing)
{
    Gpu *gpu = timing->gpu;
    Follow *follow = &timing->follow;
    const Digest rest = digest_rest(timing);
    TimingResult result;

    if (timing->launch->failed || !follow_repeated(follow, rest, &result)) {
        play_kept(timing);
        result = result_of(timing);
        if (!timing->failed && !gpu->failed && !timing->launch->failed)
            follow_store(follow, rest, &result);
    }
    gpu->cycles += result.cycles;
    timing->launch->read_clock = NULL;
    if (timing->reads_clocks)
        clock_close(&timing->clocks);
    follow_close(follow);
    if (timing->is_open)
        play_close(&timing->play);
    gpu_drop_spare(gpu, SPARE_BYTES);
    free(timing);
    return result;
}
