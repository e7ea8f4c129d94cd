/* blocks.c - when each block of a launch runs.
 *
 * A block of an ordinary launch runs to its end; then the next one starts in the same memory
 * (registers, local and shared memory). If all warps of a block only wait in loops, the next block
 * starts as well, up to the number that the GPU holds at once; then all of these take turns. So
 * does a block that may wait for others in ways that are not recognised, after a while. If none of
 * them makes progress, a GPU would hang too. In a cooperative launch all blocks are present from
 * the start. Where time is modelled and the kernel may distribute its work by atomics, as many
 * blocks as fit are present from the start.
 *
 * A GPU starts blocks in the order of their numbers, and programs rely on that (a scan that waits
 * for the preceding block). So SIM_SCHED changes only the order inside a batch: the next blocks, as
 * many as fit. */
#include "sim/base/bits.h"
#include "sim/exec/ahead.h"
#include "sim/exec/block.h"
#include "sim/exec/moved.h"
#include "sim/exec/warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_THERE = 1024, /* used if the caller does not give the number that the GPU holds */
    PATIENCE = 200000, /* warp instructions of a block that may wait for others */
};

/* ---- Waiting forever ---- */

/* Whether a loop that reads this waits for another thread, as for a lock. */
static bool may_wait(const Step *polled)
{
    return polled && (polled->in->op != OP_ld || is_strong(polled->in));
}

static void report_spinning(Warp *warp, const char *hint)
{
    const Step *step = warp->polled_step ? warp->polled_step : &warp->code->steps[warp->pc];
    const uint32_t lanes = warp->polled_step ? warp->polled_lanes : warp->active;
    uint32_t others = warp->alive & ~lanes;
    char here[100], there[100];

    describe_lanes(lanes, here, sizeof here);
    describe_lanes(others, there, sizeof there);
    if (others && may_wait(warp->polled_step))
        fail(warp, step, __builtin_ctz(lanes), FINDING_STUCK,
             "%s loop%s here forever, while %s of the same warp wait%s at line %d for this loop to "
             "end: if a waiting lane holds the lock, release it inside the branch that took it, or "
             "let only one thread per warp take it%s",
             here, lanes_end(lanes, "s"), there, lanes_end(others, "s"),
             step_line(warp_step_of(warp, __builtin_ctz(others))), hint);
    else
        fail(warp, step, __builtin_ctz(lanes), FINDING_ENDLESS,
             "this loop never ends: its condition does not change, and no thread that can still "
             "run will change it%s",
             hint);
}

/* Reports the first warp of the block that loops. If no warp loops, reports its barriers. */
static void report_endless(Block *block, const char *hint)
{
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].state == WARP_READY) {
            report_spinning(&block->warps[i], hint);
            return;
        }
    barrier_report_stuck(block);
}

/* ---- The blocks present at once ---- */

/* i -> first + (step * i + start mod count) visits each block of the batch once if step and
 * count have no common divisor. */
typedef struct Batch {
    long first, count, step, start;
    long begun; /* blocks of the batch already started */
} Batch;

typedef struct Residents {
    Launch *launch;
    Block **blocks; /* the first `there` blocks run, in the order in which they started; the other
                       blocks of `made` have ended, and their memory is reused */
    long there, made, most;
    long done, total;
    bool moved; /* a block made progress in this round */
    int idle;   /* consecutive rounds without progress */
    int pauses; /* since the last progress */
    bool deals; /* blocks draw their work, and none waits for another one */
    Deal deal;  /* if so */
    Batch batch;
    long clusters; /* that have begun */
    Ahead *ahead;  /* NULL: blocks only run in their turn */
    uint64_t seed; /* for the order of the warps */
} Residents;

static long gcd(long a, long b)
{
    return b ? gcd(b, a % b) : a;
}

/* The next blocks, as many as fit. */
static Batch next_batch(const Residents *residents)
{
    const Launch *launch = residents->launch;
    const long first = residents->batch.first + residents->batch.count,
               left = residents->total - first;
    const long room = residents->most - residents->there;
    Batch batch = { .first = first, .count = left < room ? left : room, .step = 1 };
    uint64_t seed = launch->schedule_seed + (uint64_t) first;

    if (launch->schedule == SCHEDULE_RANDOM && batch.count > 1) {
        batch.start = (long) (block_random(&seed) % (uint64_t) batch.count);
        do
            batch.step = 1 + (long) (block_random(&seed) % (uint64_t) (batch.count - 1));
        while (gcd(batch.step, batch.count) != 1);
    }
    if (launch->schedule == SCHEDULE_REVERSE) {
        batch.step = batch.count - 1;
        batch.start = batch.count - 1;
    }
    return batch;
}

static long next_number(Residents *residents)
{
    if (residents->batch.begun == residents->batch.count)
        residents->batch = next_batch(residents);
    Batch *batch = &residents->batch;
    return batch->first + (batch->step * batch->begun++ + batch->start) % batch->count;
}

static long not_begun(const Residents *residents)
{
    return residents->total - residents->done - residents->there;
}

/* Returns false if out of memory. */
static bool make_block(Residents *residents)
{
    Block *block = residents->blocks[residents->made] = calloc(1, sizeof *block);

    residents->made += block != NULL;
    return block && block_open(block, residents->launch);
}

/* Blocks of a cluster; 0: the launch has no clusters. */
static int cluster_size(const Launch *launch)
{
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

static bool crew_open(Residents *residents, Launch *launch, long total)
{
    const int size = cluster_size(launch);
    long most = launch->cooperative ? total : launch->resident > 0 ? launch->resident : MOST_THERE;

    if (size)
        most = most < size ? size : most / size * size;

    *residents =
        (Residents){ .launch = launch, .total = total, .most = most < total ? most : total };
    residents->seed = launch->schedule_seed ^ 0x5eed;
    residents->blocks = calloc((size_t) residents->most, sizeof *residents->blocks);
    if (!residents->blocks)
        fail_launch(launch, FINDING_LIMIT, "not enough memory to run the launch");
    return residents->blocks;
}

static void crew_close(Residents *residents)
{
    if (residents->ahead)
        ahead_close(residents->ahead);
    for (long i = 0; i < residents->there; i++)
        block_end(residents->blocks[i]);
    for (long i = 0; i < residents->made; i++) {
        block_close(residents->blocks[i]);
        free(residents->blocks[i]);
    }
    free(residents->blocks);
}

/* ---- Turns ---- */

static void report_progress(const Residents *residents)
{
    Launch *launch = residents->launch;

    if (launch->progress)
        launch->progress(launch->progress_self, residents->done, residents->total);
}

/* Stops a grid of very many short blocks. A long block is stopped in its own turn (turn.c). */
static void check_budget(Launch *launch, long done, long count)
{
    char text[300];

    if (!launch->budget || launch->executed < launch->budget || done == count || launch->failed)
        return;
    snprintf(text, sizeof text,
             "the kernel was stopped after %llu warp instructions, in block %ld of %ld. Is such a "
             "large grid intended? SIM_BUDGET (warpbook sim --budget) raises the limit",
             (unsigned long long) launch->executed, done, count);
    fail_launch(launch, FINDING_ENDLESS, text);
}

static void leave(Residents *residents, long i)
{
    Block *block = residents->blocks[i];

    block_end(block);
    residents->there--;
    memmove(&residents->blocks[i], &residents->blocks[i + 1],
            (size_t) (residents->there - i) * sizeof *residents->blocks);
    residents->blocks[residents->there] = block;
    residents->done++;
    report_progress(residents);
    check_budget(residents->launch, residents->done, residents->total);
}

/* All blocks that fit are present from the start. */
static bool side_by_side(const Launch *launch)
{
    return launch->cooperative || launch->blocks_draw || launch->cluster[0];
}

/* Whether a block continues before others get a turn. One that polls does not always wait as
 * block_waits() finds: its warps make progress from barrier to barrier, or count their tries. */
static bool keeps_on(const Launch *launch, const Block *block, uint64_t since)
{
    return !side_by_side(launch) && !block_waits(block) &&
           !(launch->polls && launch->executed - since > PATIENCE);
}

/* Runs the i-th block until it ends or waits, or for one turn where blocks run side by side.
 * Returns true if it ended and was removed. */
static bool go_on(Residents *residents, long i)
{
    Block *block = residents->blocks[i];
    const uint64_t since = residents->launch->executed;
    Turn turn;

    do {
        turn = block_turn(block, &residents->seed, residents->deals ? &residents->deal : NULL);
        residents->moved |= turn == TURN_MOVED;
        report_progress(residents);
    } while (turn && keeps_on(residents->launch, block, since));
    if (residents->launch->failed)
        return false;
    if (block_is_done(block)) {
        leave(residents, i);
        return true;
    }
    if (turn == TURN_NONE)
        report_endless(block, "");
    return false;
}

/* Returns false if memory has run out. */
static bool has_room(Residents *residents)
{
    if (residents->there < residents->made || make_block(residents))
        return true;
    return fail_launch(residents->launch, FINDING_LIMIT,
                       residents->there
                           ? "not enough memory for the blocks that wait for each other"
                           : "not enough memory to run a block");
}

static void begin_next(Residents *residents)
{
    if (!has_room(residents))
        return;
    const long number = next_number(residents); /* before the count below changes */
    block_begin(residents->blocks[residents->there++], number, NULL, 0);
    block_join(residents->blocks[residents->there - 1], &residents->deal);
    if (!side_by_side(residents->launch))
        go_on(residents, residents->there - 1);
}

/* The number of the block with this rank in a cluster. */
static long number_in_cluster(const Launch *launch, long cluster, int rank)
{
    long number = 0, along = 1;

    for (int i = 0; i < 3; i++) {
        const int size = launch->cluster[i], clusters = launch->grid[i] / size;
        number += along * (cluster % clusters * size + rank % size);
        along *= launch->grid[i];
        cluster /= clusters;
        rank /= size;
    }
    return number;
}

/* All blocks of a cluster begin together. Clusters begin in the order of their numbers. */
static void begin_cluster(Residents *residents)
{
    Launch *launch = residents->launch;
    const int size = cluster_size(launch);
    Cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster) {
        fail_launch(launch, FINDING_LIMIT, "not enough memory to run a cluster");
        return;
    }
    cluster->count = size;
    for (int rank = 0; rank < size && has_room(residents); rank++) {
        Block *block = cluster->blocks[rank] = residents->blocks[residents->there++];
        cluster->there++;
        block_begin(block, number_in_cluster(launch, residents->clusters, rank), cluster, rank);
    }
    if (!cluster->there)
        free(cluster);
    residents->clusters++;
    residents->idle = 0;
}

/* The next cluster begins when those before it have ended or only wait. */
static bool cluster_may_begin(const Residents *residents)
{
    return not_begun(residents) &&
           residents->there + cluster_size(residents->launch) <= residents->most &&
           (!residents->there || residents->idle || residents->launch->cooperative);
}

/* Adds a hint if blocks that have not started can never start. */
static void report_all_wait(const Residents *residents)
{
    char hint[200] = "";

    if (not_begun(residents))
        snprintf(hint, sizeof hint,
                 ". %ld block%s, as many as the GPU holds at once; %ld %s not begun and cannot "
                 "begin before one of them ends",
                 residents->there, residents->there == 1 ? " waits" : "s wait",
                 not_begun(residents), not_begun(residents) == 1 ? "has" : "have");
    report_endless(residents->blocks[0], hint);
}

/* All blocks may wait for a thread of the host, which has some time to write what they wait for.
 * Returns false if that has passed. */
static bool wait_for_host(Residents *residents)
{
    enum { MOST_PAUSES = 1000 };
    static const struct timespec pause = { .tv_nsec = 1000 * 1000 };

    if (!residents->launch->shares || residents->pauses == MOST_PAUSES)
        return false;
    nanosleep(&pause, NULL);
    residents->pauses++;
    residents->idle = 0;
    return true;
}

/* By what a warp has executed in this round, on average; if all were ahead, up to the first. */
static void raise_level(Deal *deal, uint64_t executed)
{
    const uint64_t turns = (uint64_t) deal->turns;

    if (turns)
        deal->level += (executed + turns - 1) / turns;
    else if (deal->least != UINT64_MAX)
        deal->level = deal->least;
}

static void take_turns(Residents *residents)
{
    const uint64_t before = residents->launch->executed;

    residents->moved = false;
    residents->deal.turns = 0;
    residents->deal.least = UINT64_MAX;
    for (long i = 0; i < residents->there && !residents->launch->failed;)
        i += !go_on(residents, i);
    raise_level(&residents->deal, residents->launch->executed - before);
    residents->idle = residents->moved ? 0 : residents->idle + 1;
    if (residents->moved)
        residents->pauses = 0;
    if (residents->idle >= IDLE_ROUNDS && !residents->launch->failed && !wait_for_host(residents))
        report_all_wait(residents);
}

/* Where warps or blocks distribute their work by atomic counters, the first to run would take
 * all of it. The result would be correct, but the modelled time would not be that of any GPU. */
static void find_draws(Launch *launch)
{
    const Code *code = launch->kernel;

    launch->warps_draw = launch->blocks_draw = false;
    for (int i = 0; launch->timing && i < code->step_count; i++) {
        const Step *step = &code->steps[i];
        if (!step->in || !atomic_draws(step))
            continue;
        launch->warps_draw = true;
        launch->blocks_draw |= step->space != SPACE_SHARED;
    }
}

/* Whether it may read again and again what another block is to write. */
static bool may_poll(const Step *step)
{
    const bool is_global = step->space != SPACE_SHARED && step->space != SPACE_LOCAL;

    const bool returns = step->in && step->in->op == OP_atom && step->d >= 0;

    return step->in && (step->in->op == OP_call || (is_global && returns) ||
                        (is_global && step->in->op == OP_ld && is_strong(step->in)));
}

/* Whether a block may wait for what another block writes. */
static void find_polls(Launch *launch)
{
    const Code *code = launch->kernel;

    launch->polls = false;
    for (int i = 0; i < code->step_count; i++)
        launch->polls |= may_poll(&code->steps[i]);
}

/* A block that waits would poll while the one that it waits for is ahead. */
static bool deals_work(const Launch *launch)
{
    const Code *code = launch->kernel;

    if (!launch->blocks_draw || launch->cooperative || launch->cluster[0])
        return false;
    for (int i = 0; i < code->step_count; i++)
        if (may_poll(&code->steps[i]) && !atomic_draws(&code->steps[i]))
            return false;
    return true;
}

/* ---- Blocks that run ahead of their turn ---- */

static void count_done(void *self)
{
    Residents *residents = self;

    residents->done++;
    report_progress(residents);
}

/* Returns whether it is the turn of another block after that. */
static bool runs_ahead(Residents *residents)
{
    if (residents->there || !residents->done)
        return false;
    if (residents->done == 1)
        residents->ahead = ahead_open(residents->launch, residents->total);
    if (!residents->ahead || ahead_is_over(residents->ahead))
        return false;
    const long next = ahead_run(residents->ahead, residents->done, count_done, residents);
    residents->batch = (Batch){ .first = next };
    return true;
}

void blocks_run(Launch *launch, long count)
{
    Residents residents;

    find_draws(launch);
    find_polls(launch);
    if (!crew_open(&residents, launch, count))
        return;
    residents.deals = deals_work(launch);
    moves_begin(launch, count);
    while (!launch->failed && residents.done < residents.total) {
        if (runs_ahead(&residents) && !not_begun(&residents))
            break;
        if (launch->cluster[0] && cluster_may_begin(&residents))
            begin_cluster(&residents);
        else if (!launch->cluster[0] && not_begun(&residents) && residents.there < residents.most)
            begin_next(&residents);
        else
            take_turns(&residents);
    }
    crew_close(&residents);
    moves_end(launch);
}
