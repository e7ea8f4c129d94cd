/* play.c - assigns blocks to SMs as they have room, and plays all SMs.
 *
 * SMs are played in turn, a few cycles each, so that their requests reach the L2 and memory nearly
 * in order. A block's place is free when its last warp has ended and its stores have arrived. The
 * next block takes the place that became free first.
 *
 * The turns of all SMs may also be played at the same time, on several threads: answers.h says why
 * that changes nothing.
 */
#include "sim/time/play.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

enum {
    SHORT_TURN = 32,
    LONG_TURN = 128,   /* cycles for which an SM is played before the next one */
    WORTH_A_CREW = 128 /* instructions in all SMs' turns */
};

/* ---- Turns ---- */

static void give_up(Play *play, BlockTrace *trace)
{
    pthread_mutex_lock(&play->lock);
    trace->next = play->played;
    play->played = trace;
    pthread_mutex_unlock(&play->lock);
}

/* A block ends that began at cycle `begins`. */
static void end_block(Play *play, Sm *sm, BlockTrace *trace, uint64_t begins, uint64_t ends)
{
    const int i = sm->number;

    play->room_at[i * play->places + play->room[i]++] = ends;
    play->ends = later(play->ends, ends);
    play->block_ends[play->collected++] = ends;
    play->place_cycles += (double) (ends - begins) + (double) play->gpu->device.block_start_cycles;
    OBSERVE(play->launch, block_played, play->launch,
            &(BlockPlayed){ trace->block, i, begins, ends });
    give_up(play, trace);
}

static void end_twins(Play *play, const PlayedBlock *block)
{
    for (int i = 0; i < block->twins; i++) {
        const Twin *twin = &block->twin[i];
        const uint64_t more = (uint64_t) twin->later; /* wraps round if it is negative */
        twin->sm->ends = later(twin->sm->ends, block->ends + more);
        play->repeating--;
        end_block(play, twin->sm, twin->trace, block->begins + more, block->ends + more);
    }
}

static void collect(Play *play, int i)
{
    Sm *sm = &play->gpu->sms[i];

    if (sm->ended)
        answers_settle(sm); /* a block ends when its stores have arrived */
    while (sm->ended) {
        PlayedBlock *block = sm->ended;
        sm->ended = block->next;
        end_block(play, sm, block->trace, block->begins, block->ends);
        end_twins(play, block);
        block->next = sm->spare_blocks;
        sm->spare_blocks = block;
    }
}

/* Plays the turn of an SM, which first learns the answers to the requests of its last turn. */
static void run_sm(void *self, int i)
{
    const Play *play = self;
    Sm *sm = &play->gpu->sms[play->played_sms[i]];

    answers_settle(sm);
    lsu_hold_back(sm);
    sm->answers.on = play->lists;
    sm_run(sm, play->horizon);
    sm->answers.on = false;
    sm->next = sm_next(sm);
}

/* The minimum time from a request to its answer. */
static int least_latency(const Device *device)
{
    return device->l2_latency < device->store_latency ? device->l2_latency : device->store_latency;
}

static bool any_held_back(const Gpu *gpu, uint64_t now)
{
    for (int i = 0; i < gpu->device.sms; i++)
        if (lsu_is_held_back(&gpu->sms[i], now))
            return true;
    return false;
}

/* Cycles for which SMs are played before they learn the answers to their requests: at most half of
 * the time to an answer, since a block may begin in the turn before; and less while the L2 accepts
 * stores slowly, since an SM learns that only between its turns. */
static uint64_t turn_cycles(const Play *play)
{
    const Gpu *gpu = play->gpu;
    const int most = least_latency(&gpu->device) / 2;

    if (most < SHORT_TURN || has_cause(gpu->without, CAUSE_SECTORS) ||
        any_held_back(gpu, play->horizon))
        return SHORT_TURN;
    return (uint64_t) (most < LONG_TURN ? most : LONG_TURN);
}

/* Whether no answer can come before the turns end. `next`: the first cycle in which an SM does
 * something. */
static bool may_list(const Play *play, uint64_t next)
{
    return play->horizon < next + (uint64_t) least_latency(&play->gpu->device) &&
           !has_cause(play->gpu->without, CAUSE_SECTORS);
}

static void list_played(Play *play)
{
    play->played_count = 0;
    for (int i = 0; i < play->gpu->device.sms; i++)
        if (twins_is_played(&play->twins, i))
            play->played_sms[play->played_count++] = i;
    play->listed_groups = play->twins.groups;
}

static void run_all(Play *play)
{
    Gpu *gpu = play->gpu;

    if (!play->played_count || play->listed_groups != play->twins.groups)
        list_played(play);
    if (play->on_threads)
        crew_do(play->crew, play->played_count, run_sm, play);
    for (int i = 0; i < play->played_count && !play->on_threads; i++)
        run_sm(play, i);
    if (play->lists)
        gpu->failed |= !answers_ask(&play->asked, gpu->sms, gpu->device.sms, play->turn_began);
}

/* Whether SMs that are played still have blocks that repeat another SM's: it makes their accesses,
 * so the two SMs cannot be played at the same time. */
static bool is_dividing(const Play *play)
{
    return play->repeating && !play->twins.groups;
}

static void play_turns(Play *play, uint64_t next)
{
    Gpu *gpu = play->gpu;
    uint64_t issued = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        issued += gpu->sms[i].issued;
    play->lists = may_list(play, next);
    play->on_threads =
        play->lists && play->crew && issued - play->issued > WORTH_A_CREW && !is_dividing(play);
    play->issued = issued;
    play->turn_began = next;
    gpu->failed |= !plans_make_room(&gpu->plans);
    gpu->busy = memory_busy(&gpu->memory);
    run_all(play);
    for (int i = 0; i < gpu->device.sms; i++) {
        gpu->failed |= gpu->sms[i].failed;
        collect(play, i);
    }
}

static void settle_all(Play *play)
{
    for (int i = 0; i < play->gpu->device.sms; i++) {
        answers_settle(&play->gpu->sms[i]);
        play->gpu->sms[i].next = sm_next(&play->gpu->sms[i]);
    }
}

/* The first cycle in which an SM does something. An SM that has not learned its answers yet may do
 * something when the first of them arrives. */
static uint64_t first_event(Play *play)
{
    const Gpu *gpu = play->gpu;
    const uint64_t known_until = play->turn_began + (uint64_t) least_latency(&gpu->device);
    uint64_t next = NEVER;

    for (int i = 0; i < gpu->device.sms; i++)
        next = gpu->sms[i].next < next ? gpu->sms[i].next : next;
    if (next <= known_until)
        return next;
    settle_all(play);
    next = NEVER;
    for (int i = 0; i < gpu->device.sms; i++)
        next = gpu->sms[i].next < next ? gpu->sms[i].next : next;
    return next;
}

static bool any_resident(const Gpu *gpu)
{
    for (int i = 0; i < gpu->device.sms; i++)
        if (gpu->sms[i].resident > 0)
            return true;
    return false;
}

/* Plays all SMs, up to a few cycles after the next event. Returns false if nothing is running. */
static bool go_on(Play *play)
{
    Gpu *gpu = play->gpu;
    uint64_t next;

    if (!any_resident(gpu))
        return false;
    next = first_event(play);
    for (int i = 0; i < gpu->device.sms && next == NEVER; i++)
        sm_release_all(&gpu->sms[i], play->horizon);
    if (next == NEVER) {
        settle_all(play);
        return true;
    }
    play->horizon = later(next, play->horizon) + turn_cycles(play);
    play_turns(play, next);
    return true;
}

/* ---- Places ---- */

/* Finds the SM whose place became free first; of several, the one with the fewest blocks. Twins get
 * their blocks with the SM that they repeat. */
static bool find_sm(const Play *play, int *sm)
{
    const Gpu *gpu = play->gpu;
    uint64_t first = NEVER;

    for (int i = 0; i < gpu->device.sms; i++)
        for (int n = 0; n < play->room[i] && twins_is_played(&play->twins, i); n++) {
            uint64_t at = play->room_at[i * play->places + n];
            if (at < first || (at == first && gpu->sms[i].resident < gpu->sms[*sm].resident)) {
                first = at;
                *sm = i;
            }
        }
    return first != NEVER && first <= play->horizon;
}

/* Plays until an SM has room. */
static int next_sm(Play *play)
{
    int sm = 0;

    while (!find_sm(play, &sm))
        if (!go_on(play))
            play->horizon += turn_cycles(play); /* until the stores of the last one have arrived */
    answers_settle(&play->gpu->sms[sm]);
    return sm;
}

/* Takes the place of the SM that became free first. Returns when it did. */
static uint64_t take_place(Play *play, int sm)
{
    uint64_t *places = &play->room_at[sm * play->places], *first = places, at;

    for (int n = 1; n < play->room[sm]; n++)
        first = places[n] < *first ? &places[n] : first;
    at = *first;
    *first = places[--play->room[sm]];
    return at;
}

/* Blocks begin one after the other, at a limited rate: an H200 begins 1.66 per nanosecond, whatever
 * their size (tests/sim/time/mechanisms, launch.blocks). */
static uint64_t start_of(Play *play, uint64_t free_at)
{
    const Device *device = &play->gpu->device;
    const double at = fmax(play->next_start, (double) free_at);

    if (device->blocks_per_ns > 0)
        play->next_start = at + device->sm_mhz / 1e3 / device->blocks_per_ns;
    return memory_up(at);
}

static bool enlarge(uint64_t **array, long room)
{
    uint64_t *more = realloc(*array, (size_t) room * sizeof *more);

    if (more)
        *array = more;
    return more;
}

static bool note_start(Play *play, uint64_t at)
{
    if (play->placed == play->starts_room) {
        const long room = play->starts_room ? 2 * play->starts_room : 1024;
        if (!enlarge(&play->starts, room) || !enlarge(&play->block_ends, room))
            return false;
        play->starts_room = room;
    }
    play->starts[play->placed++] = at;
    return true;
}

/* ---- Bundles: a block for each SM of a group (twins.h) ---- */

/* Starts the next block on the SM. Returns the cycle. */
static uint64_t begin_on(Play *play, int sm)
{
    const uint64_t at = start_of(play, take_place(play, sm));

    play->failed |= !note_start(play, at);
    sample_began(&play->sample, at);
    return at;
}

static void start(Play *play, Sm *sm, const PlayedBlock *block, uint64_t at)
{
    if (!sm_start(sm, block, at + (uint64_t) play->gpu->device.block_start_cycles))
        play->failed = true;
    sm->next = sm_next(sm);
    collect(play, sm->number);
}

/* Gives the bundle to a group that has room; block number `chosen` of it is played. */
static void place_bundle(Play *play, int chosen)
{
    const int sm = next_sm(play);
    const Group group = twins_group(&play->twins, sm);
    PlayedBlock block = { .trace = play->bundle[chosen] };
    uint64_t at[GROUP_SMS] = { 0 };

    for (int i = 0, other = group.first; i < play->bundled; i++) {
        other += other == sm;
        const int to = i == chosen ? sm : other++;
        at[i] = begin_on(play, to);
        if (i != chosen)
            block.twin[block.twins++] = (Twin){ .trace = play->bundle[i],
                                                .sm = &play->gpu->sms[to],
                                                .later = (int64_t) at[i] };
    }
    for (int i = 0; i < block.twins; i++) {
        block.twin[i].later -= (int64_t) at[chosen];
        play->repeating++;
        block.twin[i].sm->started++;
    }
    start(play, &play->gpu->sms[sm], &block, at[chosen]);
}

static void place_each(Play *play)
{
    for (int i = 0; i < play->bundled; i++) {
        const PlayedBlock block = { .trace = play->bundle[i] };
        const int sm = next_sm(play);
        start(play, &play->gpu->sms[sm], &block, begin_on(play, sm));
    }
}

static void place(Play *play)
{
    int chosen = 0;

    if (play->twins.groups)
        chosen =
            twins_choose(&play->twins, play->bundle, play->bundled, play->placed >= play->compared);
    if (twins_differ(&play->twins) || play->gpu->stack_words)
        twins_end(&play->twins);
    if (play->twins.groups)
        place_bundle(play, chosen);
    else
        place_each(play);
    play->bundled = 0;
    sample_played(&play->sample, play->horizon);
}

/* The number of blocks of the next bundle. */
static int bundle_size(Play *play)
{
    Group group;

    if (!play->twins.groups)
        return 1;
    group = twins_group(&play->twins, next_sm(play));
    return group.end - group.first;
}

static void take(Play *play, BlockTrace *trace)
{
    if (play->failed || sample_leaves_out(&play->sample, trace, (int) (trace->block % 2))) {
        give_up(play, trace);
        return;
    }
    play->bundle[play->bundled++] = trace;
    if (play->bundled == bundle_size(play) || sample_is_full(&play->sample))
        place(play);
}

/* Compares blocks before any of them is played. */
static void compare_waiting(Play *play)
{
    BlockTrace *some[GROUP_SMS];
    int count = 0;

    for (BlockTrace *trace = play->waiting; trace; trace = trace->next) {
        some[count++] = trace;
        if (count < GROUP_SMS && trace->next)
            continue;
        twins_choose(&play->twins, some, count, true);
        play->compared += count;
        count = 0;
    }
    if (twins_differ(&play->twins))
        play->twins.groups = 0;
}

static void take_waiting(Play *play)
{
    BlockTrace *trace;

    if (!play->is_begun && play->twins.groups)
        compare_waiting(play);
    play->is_begun = true;
    while ((trace = play->waiting)) {
        play->waiting = trace->next;
        trace->next = NULL;
        take(play, trace);
    }
    play->last = &play->waiting;
    play->waits = 0;
}

void play_block(Play *play, BlockTrace *trace)
{
    trace_work(trace);
    trace->next = NULL;
    *play->last = trace;
    play->last = &trace->next;
    play->waits++;
    if (play->is_begun || play->waits == play->wave)
        take_waiting(play);
}

/* Accounts for the part of the L2 that blocks to be left out would have filled. */
static void stand_in(const Play *play, const BlockStart *start)
{
    Memory *memory = &play->gpu->memory;
    const double all = (double) play->blocks / (double) start->begun;
    const double lines = play->gpu->device.l2_bytes / LINE_BYTES;

    memory->stand_in = start->most_played &&
                       (double) start->executed * all > 2 * (double) start->most_played &&
                       (double) memory->lines_in * all > 2 * lines;
}

void play_begin(Play *play, BlockTrace *trace, const BlockStart *start)
{
    if (start->begun)
        stand_in(play, start);
    trace->begins = play->horizon;
}

void play_rest(Play *play)
{
    fenv_t programs;

    /* The program may have set another rounding mode, which other threads do not have. */
    fegetenv(&programs);
    fesetenv(FE_DFL_ENV);
    take_waiting(play);
    if (play->bundled)
        place(play);
    sample_stop(&play->sample);
    while (!play->failed && go_on(play))
        ;
    twins_end(&play->twins);
    fesetenv(&programs);
}

double play_even_cycles(const Play *play)
{
    const Gpu *gpu = play->gpu;
    double places = 1, issued = 0, rate = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        places = fmax(places, gpu->sms[i].full.blocks);
    for (int i = 0; i < gpu->device.sms; i++) {
        const FullTime *full = &gpu->sms[i].full;
        issued += (double) gpu->sms[i].issued;
        if (full->blocks == (int) places && full->cycles > 0)
            rate = fmax(rate, full->issued / full->cycles);
    }
    const double least = play->place_cycles / places / gpu->device.sms;
    const double cycles = rate > 0 ? issued / rate / gpu->device.sms : 0;
    return fmin((double) play->ends, fmax(least, cycles));
}

/* The number of blocks that run on average from `from` to `to`. */
static double running(const Play *play, double from, double to)
{
    double sum = 0;

    for (long i = 0; i < play->collected; i++)
        if ((double) play->block_ends[i] > from)
            sum += fmin((double) play->block_ends[i], to) - from;
    return to > from ? sum / (to - from) : 0;
}

KernelTail play_tail(const Play *play, double cycles)
{
    const double ends = (double) play->ends;
    KernelTail tail = { .begins = 1 };
    double last = 0, blocks;

    for (long i = 0; i < play->placed; i++)
        last = fmax(last, (double) play->starts[i]);
    blocks = fmin((double) play->blocks, (double) play->places * play->gpu->device.sms);
    if (ends <= last || cycles <= 0 || blocks < 1)
        return tail;
    tail.begins = fmax(0, 1 - (ends - last) / cycles);
    for (int i = 0; i < TAIL_PARTS; i++)
        tail.places[i] = fmin(1, running(play, last + (ends - last) * i / TAIL_PARTS,
                                         last + (ends - last) * (i + 1) / TAIL_PARTS) /
                                     blocks);
    return tail;
}

/* ---- A launch ---- */

bool play_open(Play *play, Gpu *gpu, Launch *launch, int places, long blocks, bool samples)
{
    const size_t sms = (size_t) gpu->device.sms;

    *play = (Play){ .gpu = gpu, .launch = launch, .places = places, .blocks = blocks };
    pthread_mutex_init(&play->lock, NULL);
    play->last = &play->waiting;
    play->wave = (long) places * gpu->device.sms;
    play->is_begun = !samples;
    if (samples) {
        sample_begin(&play->sample, &gpu->memory, blocks, play->wave);
        twins_begin(&play->twins, gpu, blocks);
    }
    play->room = calloc(sms, sizeof *play->room);
    play->room_at = calloc(sms * (size_t) places + 1, sizeof *play->room_at);
    for (size_t i = 0; i < sms && play->room; i++)
        play->room[i] = places;
    play->played_sms = calloc(sms, sizeof *play->played_sms);
    return play->room && play->room_at && play->played_sms;
}

static void drop_waiting(Play *play)
{
    BlockTrace *trace;

    while ((trace = play->waiting)) {
        play->waiting = trace->next;
        trace_free(trace);
    }
    for (int i = 0; i < play->bundled; i++)
        trace_free(play->bundle[i]);
}

void play_close(Play *play)
{
    drop_waiting(play);
    free(play->room);
    free(play->room_at);
    free(play->played_sms);
    free(play->starts);
    free(play->block_ends);
    free(play->asked.items);
    sample_close(&play->sample);
    pthread_mutex_destroy(&play->lock);
}

bool play_is_observed(const Launch *launch)
{
    for (const Observer *const *observer = launch->observers; *observer; observer++)
        if ((*observer)->block_played || (*observer)->warp_played)
            return true;
    return false;
}

BlockTrace *play_take(Play *play)
{
    BlockTrace *played;

    pthread_mutex_lock(&play->lock);
    played = play->played;
    play->played = NULL;
    pthread_mutex_unlock(&play->lock);
    return played;
}
