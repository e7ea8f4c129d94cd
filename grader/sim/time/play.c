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

static void collect(Play *play, int i)
{
    Sm *sm = &play->gpu->sms[i];

    if (sm->ended)
        answers_settle(sm); /* a block ends when its stores have arrived */
    while (sm->ended) {
        PlayedBlock *block = sm->ended;
        sm->ended = block->next;
        play->room_at[i * play->places + play->room[i]++] = block->ends;
        play->ends = later(play->ends, block->ends);
        play->block_ends[play->collected++] = block->ends;
        play->place_cycles +=
            (double) (block->ends - block->begins) + (double) play->gpu->device.block_start_cycles;
        OBSERVE(play->launch, block_played, play->launch,
                &(BlockPlayed){ block->trace->block, i, block->begins, block->ends });
        give_up(play, block->trace);
        block->next = sm->spare_blocks;
        sm->spare_blocks = block;
    }
}

/* Plays the turn of an SM, which first learns the answers to the requests of its last turn. */
static void run_sm(void *self, int i)
{
    const Play *play = self;
    Sm *sm = &play->gpu->sms[i];

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

static void run_all(Play *play)
{
    Gpu *gpu = play->gpu;

    if (play->on_threads)
        crew_do(play->crew, run_sm, play);
    for (int i = 0; i < gpu->device.sms && !play->on_threads; i++)
        run_sm(play, i);
    if (play->lists)
        gpu->failed |= !answers_ask(&play->asked, gpu->sms, gpu->device.sms, play->turn_began);
}

static void play_turns(Play *play, uint64_t next)
{
    Gpu *gpu = play->gpu;
    uint64_t issued = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        issued += gpu->sms[i].issued;
    play->lists = may_list(play, next);
    play->on_threads = play->lists && play->crew && issued - play->issued > WORTH_A_CREW;
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

/* Finds the place that became free first; of several, one on the SM with the fewest blocks. */
static bool find_place(const Play *play, int *sm, int *place)
{
    const Gpu *gpu = play->gpu;
    uint64_t first = NEVER;

    for (int i = 0; i < gpu->device.sms; i++)
        for (int n = 0; n < play->room[i]; n++) {
            uint64_t at = play->room_at[i * play->places + n];
            if (at < first || (at == first && gpu->sms[i].resident < gpu->sms[*sm].resident)) {
                first = at;
                *sm = i;
                *place = n;
            }
        }
    return first != NEVER && first <= play->horizon;
}

/* Blocks begin one after the other, at a limited rate: an H200 begins 1.66 per nanosecond, whatever
 * their size (tests/sim/time/mechanisms, launch.blocks). */
static uint64_t take_place(Play *play, int sm, int place)
{
    const Device *device = &play->gpu->device;
    uint64_t *places = &play->room_at[sm * play->places];
    const double at = fmax(play->next_start, (double) places[place]);

    places[place] = places[--play->room[sm]];
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

void play_block(Play *play, BlockTrace *trace)
{
    int sm = 0, place = 0;
    uint64_t at;

    if (play->failed || sample_leaves_out(&play->sample, trace, (int) (trace->block % 2))) {
        give_up(play, trace);
        return;
    }
    while (!find_place(play, &sm, &place))
        if (!go_on(play))
            play->horizon += turn_cycles(play); /* until the stores of the last one have arrived */
    at = take_place(play, sm, place);
    answers_settle(&play->gpu->sms[sm]);
    if (!note_start(play, at) ||
        !sm_start(&play->gpu->sms[sm], trace, at + (uint64_t) play->gpu->device.block_start_cycles))
        play->failed = true;
    play->gpu->sms[sm].next = sm_next(&play->gpu->sms[sm]);
    collect(play, sm);
    sample_played(&play->sample, at, play->horizon);
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
    sample_stop(&play->sample);
    while (!play->failed && go_on(play))
        ;
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
    if (samples)
        sample_begin(&play->sample, &gpu->memory, blocks, (long) places * gpu->device.sms);
    play->room = calloc(sms, sizeof *play->room);
    play->room_at = calloc(sms * (size_t) places + 1, sizeof *play->room_at);
    for (size_t i = 0; i < sms && play->room; i++)
        play->room[i] = places;
    return play->room && play->room_at;
}

void play_close(Play *play)
{
    free(play->room);
    free(play->room_at);
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
