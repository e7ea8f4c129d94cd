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

#include <stdlib.h>

enum {
    TOGETHER = 32,     /* cycles for which an SM is played before the next SM's turn */
    WORTH_A_CREW = 128 /* instructions in all SMs' turns */
};

/* ---- Turns ---- */

static void collect(Play *play, int i)
{
    Sm *sm = &play->gpu->sms[i];

    while (sm->ended) {
        PlayedBlock *block = sm->ended;
        sm->ended = block->next;
        play->room_at[i * play->places + play->room[i]++] = block->ends;
        play->ends = later(play->ends, block->ends);
        play->place_cycles +=
            (double) (block->ends - block->begins) + (double) play->gpu->device.block_start_cycles;
        OBSERVE(play->launch, block_played, play->launch,
                &(BlockPlayed){ block->trace->block, i, block->begins, block->ends });
        pthread_mutex_lock(&play->lock);
        block->trace->next = play->played;
        play->played = block->trace;
        pthread_mutex_unlock(&play->lock);
        block->next = sm->spare_blocks;
        sm->spare_blocks = block;
    }
}

static void run_sm(void *self, int i)
{
    const Play *play = self;

    sm_run(&play->gpu->sms[i], play->horizon);
}

static void settle_sm(void *self, int i)
{
    const Play *play = self;

    answers_settle(&play->gpu->sms[i]);
}

static void run_on_threads(Play *play)
{
    Gpu *gpu = play->gpu;

    for (int i = 0; i < gpu->device.sms; i++)
        gpu->sms[i].answers.on = true;
    crew_do(play->crew, run_sm, play);
    for (int i = 0; i < gpu->device.sms; i++) {
        gpu->sms[i].answers.on = false;
        answers_ask(&gpu->sms[i]);
    }
    crew_do(play->crew, settle_sm, play);
}

/* Whether no answer can come before the turns end, and threads are worth it. `next`: the first
 * cycle in which an SM does something. */
static bool may_use_threads(const Play *play, uint64_t next, uint64_t issued)
{
    const Device *device = &play->gpu->device;
    const int least =
        device->l2_latency < device->store_latency ? device->l2_latency : device->store_latency;

    return play->crew && issued > WORTH_A_CREW && !play->gpu->without && !play->gpu->watched &&
           play->horizon < next + (uint64_t) least;
}

static void play_turns(Play *play, uint64_t next)
{
    Gpu *gpu = play->gpu;
    uint64_t issued = 0;

    for (int i = 0; i < gpu->device.sms; i++)
        issued += gpu->sms[i].issued;
    const bool threads = may_use_threads(play, next, issued - play->issued);
    play->issued = issued;
    gpu->failed |= !plans_make_room(&gpu->plans);
    gpu->busy = memory_busy(&gpu->memory);
    if (threads)
        run_on_threads(play);
    else
        for (int i = 0; i < gpu->device.sms; i++)
            run_sm(play, i);
    for (int i = 0; i < gpu->device.sms; i++) {
        gpu->failed |= gpu->sms[i].failed;
        collect(play, i);
    }
}

/* Plays all SMs, up to a few cycles after the next event. Returns false if nothing is running. */
static bool go_on(Play *play)
{
    Gpu *gpu = play->gpu;
    uint64_t next = NEVER;
    bool any = false;

    for (int i = 0; i < gpu->device.sms; i++) {
        uint64_t at = sm_next(&gpu->sms[i]);
        any |= gpu->sms[i].resident > 0;
        next = at < next ? at : next;
    }
    if (!any)
        return false;
    for (int i = 0; i < gpu->device.sms && next == NEVER; i++)
        sm_release_all(&gpu->sms[i], play->horizon);
    if (next == NEVER)
        return true;
    play->horizon = later(next, play->horizon) + TOGETHER;
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

static uint64_t take_place(Play *play, int sm, int place)
{
    uint64_t *places = &play->room_at[sm * play->places];
    const uint64_t at = places[place];

    places[place] = places[--play->room[sm]];
    return at;
}

static bool note_start(Play *play, uint64_t at)
{
    if (play->placed == play->starts_room) {
        long room = play->starts_room ? 2 * play->starts_room : 1024;
        uint64_t *more = realloc(play->starts, (size_t) room * sizeof *more);
        if (!more)
            return false;
        play->starts = more;
        play->starts_room = room;
    }
    play->starts[play->placed++] = at;
    return true;
}

void play_block(Play *play, BlockTrace *trace)
{
    int sm = 0, place = 0;
    uint64_t at;

    while (!find_place(play, &sm, &place))
        if (!go_on(play))
            play->horizon += TOGETHER; /* until the stores of the last one have arrived */
    at = take_place(play, sm, place);
    if (!note_start(play, at) ||
        !sm_start(&play->gpu->sms[sm], trace, at + (uint64_t) play->gpu->device.block_start_cycles))
        play->failed = true;
    collect(play, sm);
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
    while (!play->failed && go_on(play))
        ;
}

/* ---- A launch ---- */

bool play_open(Play *play, Gpu *gpu, Launch *launch, int places, long blocks)
{
    const size_t sms = (size_t) gpu->device.sms;

    *play = (Play){ .gpu = gpu, .launch = launch, .places = places, .blocks = blocks };
    pthread_mutex_init(&play->lock, NULL);
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
    pthread_mutex_destroy(&play->lock);
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
