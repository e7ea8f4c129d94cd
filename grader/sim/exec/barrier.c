/* barrier.c - bar and barrier: warps of a block that wait for each other, and lanes of a warp.
 *
 * A warp counts at a barrier as 32 threads, once all of its living lanes have reached it. Lanes
 * that arrive alone become waiting_lanes; then other parts of the warp run, if any of them is not
 * waiting. Lanes that would only exit do so. If the rest of the warp waits for the waiting_lanes,
 * the barrier can never complete, which is reported. */
#include "sim/exec/warp.h"

#include <stdio.h>
#include <string.h>

enum { ALL_THREADS = -1, WARP_SYNC = -1 };

void describe_lanes(uint32_t lanes, char *text, size_t size)
{
    const bool one = lanes && !(lanes & (lanes - 1));
    size_t used = (size_t) snprintf(text, size, one ? "lane" : "lanes");

    for (int first = 0; first < LANES && used + 8 < size; first++) {
        int last = first;
        if (!(lanes >> first & 1))
            continue;
        while (last < LANES - 1 && lanes >> (last + 1) & 1)
            last++;
        used += (size_t) snprintf(text + used, size - used, last > first ? "%s %d-%d" : "%s %d",
                                  used > 5 ? "," : "", first, last);
        first = last;
    }
}

/* ---- Blocks ---- */

static int live_warps(const Block *block)
{
    int live = 0;

    for (int i = 0; i < block->warp_count; i++)
        live += block->warps[i].state != WARP_DONE;
    return live;
}

static void write_vote(Warp *warp, const Barrier *barrier)
{
    const Step *step = warp->barrier_step;
    uint32_t *d, all;

    if (!has_mod(step->in, MOD_red))
        return;
    if (step->mod == MOD_popc) {
        d = plane(warp, step->d);
        for (uint32_t left = warp->active; left; left &= left - 1)
            d[__builtin_ctz(left)] = barrier->votes;
        return;
    }
    all = step->mod == MOD_and ? barrier->votes == barrier->arrivals : barrier->votes > 0;
    d = &warp->predicates[step->d];
    *d = (*d & ~warp->active) | (all ? warp->active : 0);
}

/* The released warps continue at their next turn. */
static void release(Block *block, Barrier *barrier)
{
    Barrier passed = *barrier;
    int released = 0;

    *barrier = (Barrier){ 0 };
    for (int i = 0; i < block->warp_count; i++) {
        Warp *warp = &block->warps[i];
        if (!(passed.warps >> i & 1))
            continue;
        released++;
        write_vote(warp, &passed);
        warp->state = WARP_WAITING;
        if (warp->waiting_lanes)
            warp_unpark(warp);
    }
    if (released == live_warps(block)) {
        block->epoch++;
        block->last_barrier = passed.step;
    } else {
        OBSERVE(block->launch, barrier, block, passed.warps | passed.arrivers);
    }
}

/* Whether as many threads have arrived as the barrier expects. Mostly the last warps have not. */
static bool is_full(const Block *block, const Barrier *barrier)
{
    int missing = -barrier->arrived;

    if (barrier->expected != ALL_THREADS)
        return barrier->arrived >= barrier->expected;
    for (int i = block->warp_count - 1; i >= 0 && missing <= 0; i--)
        missing += block->warps[i].state != WARP_DONE ? LANES : 0;
    return missing <= 0;
}

static void check(Block *block, Barrier *barrier)
{
    if (!barrier->expected || !is_full(block, barrier))
        return;
    if (barrier->warps)
        release(block, barrier);
    else
        *barrier = (Barrier){ 0 }; /* all warps used bar.arrive, so none is waiting */
}

void barrier_warp_done(Warp *warp)
{
    Block *block = warp->block;

    for (uint32_t left = block->barriers_used; left; left &= left - 1)
        if (block->barriers[__builtin_ctz(left)].expected == ALL_THREADS)
            check(block, &block->barriers[__builtin_ctz(left)]);
}

/* ---- A warp that arrives ---- */

static uint32_t lane_value(const Warp *warp, int slot, uint32_t mask)
{
    const uint32_t *values = plane(warp, slot);

    return values[__builtin_ctz(mask)];
}

/* 0: already reported. */
static int expected_of(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t count;

    if (step->b == -1)
        return ALL_THREADS;
    count = lane_value(warp, step->b, mask);
    if (count && count <= WARPS_A_BLOCK * LANES && count % LANES == 0)
        return (int) count;
    fail(warp, step, __builtin_ctz(mask), FINDING_BARRIER,
         "a barrier for %u threads: the number must be a multiple of 32 and at most 1024", count);
    return 0;
}

static Barrier *barrier_of(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t number = lane_value(warp, step->a, mask);

    if (number < BARRIERS)
        return &warp->block->barriers[number];
    fail(warp, step, __builtin_ctz(mask), FINDING_BARRIER,
         "there is no barrier %u: barriers are numbered 0 to 15", number);
    return NULL;
}

static void count_votes(Warp *warp, const Step *step, Barrier *barrier)
{
    uint32_t votes = warp->predicates[step->c];

    if (step->negated_c)
        votes = ~votes;
    barrier->votes += (uint32_t) __builtin_popcount(votes & warp->active);
    barrier->arrivals += (uint32_t) __builtin_popcount(warp->active);
}

/* Returns false if an error was reported. */
static bool add_warp(Warp *warp, const Step *step, Barrier *barrier)
{
    int expected = expected_of(warp, step, warp->active);
    int number = (int) (barrier - warp->block->barriers);

    if (!expected)
        return false;
    if (barrier->expected && barrier->expected != expected) {
        fail(warp, step, __builtin_ctz(warp->active), FINDING_BARRIER,
             "barrier %d has a different number of threads here than where other warps wait at it",
             number);
        return false;
    }
    warp->block->barriers_used |= 1u << number;
    barrier->step = step;
    barrier->expected = expected;
    barrier->arrived += LANES;
    return true;
}

/* GPUs since Volta do not wait for lanes that have exited. On older GPUs, and according to the
 * programming guide, this is undefined behaviour. */
static void report_absent_lanes(Warp *warp, uint32_t diverged_lanes)
{
    char here[100], there[100];

    describe_lanes(warp->alive, here, sizeof here);
    describe_lanes(diverged_lanes, there, sizeof there);
    warn(warp, warp->barrier_step, __builtin_ctz(warp->alive), FINDING_BARRIER,
         "only %s of warp %d reach%s this barrier; %s took another branch and ended: all "
         "threads that do not return early must reach the same __syncthreads()",
         here, warp->number, lanes_end(warp->alive, "es"), there);
}

/* All living lanes have reached the barrier. */
static void arrive(Warp *warp)
{
    const Step *step = warp->barrier_step;
    Barrier *barrier = &warp->block->barriers[warp->barrier];
    const uint32_t ended = warp->diverged_lanes & ~warp->alive;

    warp->diverged_lanes = 0;
    if (ended)
        report_absent_lanes(warp, ended);

    if (!add_warp(warp, step, barrier))
        return;
    if (has_mod(step->in, MOD_red))
        count_votes(warp, step, barrier);
    barrier->warps |= 1u << warp->number;
    warp->state = WARP_AT_BARRIER;
    check(warp->block, barrier);
}

/* ---- Lanes that arrive alone ---- */

static bool is_aligned(const Instruction *in)
{
    return in->op == OP_bar || has_mod(in, MOD_aligned);
}

/* The lanes wait after this step. Lanes of the same part that skipped the step wait there too. */
static void park(Warp *warp, const Step *step, uint32_t mask, int barrier)
{
    const uint32_t before = warp->waiting_lanes, rest = warp->alive & ~before & ~mask;
    int next = warp->pc;

    if (mask != warp->active)
        warp_split(warp, step, next, mask, next - 1, 0, next);
    warp->pc = next;
    if (before && barrier != WARP_SYNC && is_aligned(step->in))
        warn(warp, step, __builtin_ctz(mask), FINDING_BARRIER,
             "the lanes of a warp reach a barrier in different branches: all threads of a block "
             "must reach the same __syncthreads()");
    warp->waiting_lanes |= mask;
    if (barrier != WARP_SYNC && is_aligned(step->in) && !warp_only_ends(warp, rest))
        warp->diverged_lanes |= rest;
    warp->barrier = barrier;
    warp->barrier_step = step;
    barrier_resolve(warp);
}

static uint32_t members_of(const Warp *warp)
{
    return warp->sync_members & warp->alive;
}

static void report_missing_lanes(Warp *warp, uint32_t missing, bool ends)
{
    const Step *other = warp_step_of(warp, __builtin_ctz(missing));
    int lane = __builtin_ctz(warp->waiting_lanes);
    char here[100], there[100];

    describe_lanes(warp->waiting_lanes, here, sizeof here);
    describe_lanes(missing, there, sizeof there);
    if (ends)
        fail(warp, warp->barrier_step, lane, FINDING_BARRIER,
             "%s of warp %d wait%s here, but %s did not take this branch and wait%s for "
             "them at line %d: all threads must reach the same __syncthreads()",
             here, warp->number, lanes_end(warp->waiting_lanes, "s"), there,
             lanes_end(missing, "s"), step_line(other));
    else
        warn(warp, warp->barrier_step, lane, FINDING_SHUFFLE,
             "the mask of this warp barrier names %s, waiting at line %d instead of here", there,
             step_line(other));
}

void barrier_resolve(Warp *warp)
{
    uint32_t rest = warp->alive & ~warp->waiting_lanes;
    bool warp_sync = warp->barrier == WARP_SYNC;

    if (warp->state != WARP_READY)
        return;
    if (warp_sync && !(members_of(warp) & rest))
        warp_unpark(warp);
    else if (warp_rotate(warp))
        return;
    else if (rest && warp_only_ends(warp, rest))
        warp_exit(warp, rest); /* which calls this function again */
    else if (rest)
        report_missing_lanes(warp, warp_sync ? members_of(warp) & rest : rest, !warp_sync);
    else
        arrive(warp);
    if (warp_sync && warp->waiting_lanes && warp->state == WARP_READY && !warp_rotate(warp))
        warp_unpark(warp);
}

/* ---- Handlers ---- */

static void run_sync(Warp *warp, const Step *step, uint32_t mask)
{
    Barrier *barrier = barrier_of(warp, step, mask);
    int number = barrier ? (int) (barrier - warp->block->barriers) : 0;

    if (!barrier)
        return;
    if (warp->waiting_lanes && (warp->barrier != number || has_mod(step->in, MOD_red))) {
        fail(warp, step, __builtin_ctz(mask), FINDING_BARRIER,
             "lanes of one warp wait at different barriers: here and at line %d",
             step_line(warp->barrier_step));
        return;
    }
    if (mask != warp->alive) {
        park(warp, step, mask, number);
        return;
    }
    warp->barrier = number;
    warp->barrier_step = step;
    arrive(warp);
}

static void run_arrive(Warp *warp, const Step *step, uint32_t mask)
{
    Barrier *barrier = barrier_of(warp, step, mask);

    if (!barrier)
        return;
    if (mask != warp->alive)
        warn(warp, step, __builtin_ctz(mask), FINDING_BARRIER,
             "only part of warp %d arrives at this barrier, which counts whole warps",
             warp->number);
    if (!add_warp(warp, step, barrier))
        return;
    barrier->arrivers |= 1u << warp->number;
    check(warp->block, barrier);
}

static void report_outside(Warp *warp, const Step *step, uint32_t lanes, uint32_t members)
{
    char who[100];

    describe_lanes(lanes, who, sizeof who);
    warn(warp, step, __builtin_ctz(lanes), FINDING_SHUFFLE,
         "%s wait%s at this warp barrier, but the mask 0x%08x does not name them", who,
         lanes_end(lanes, "s"), members);
}

/* Each lane has a mask of its own, and waits for the lanes that this names. */
static void run_warp_sync(Warp *warp, const Step *step, uint32_t mask)
{
    const uint32_t *masks = plane(warp, step->a);
    uint32_t waiting = 0, members = 0, outside = 0;

    OBSERVE(warp->block->launch, warp_sync, warp, mask);
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        outside |= (~masks[lane] >> lane & 1) << lane;
        if (masks[lane] & warp->alive & ~mask) {
            waiting |= 1u << lane;
            members |= masks[lane];
        }
    }
    if (outside)
        report_outside(warp, step, outside, masks[__builtin_ctz(outside)]);
    if (!waiting)
        return;
    if (warp->waiting_lanes && warp->barrier != WARP_SYNC)
        return; /* other lanes wait at a barrier of the block, which reports the problem */
    warp->sync_members = members | (warp->waiting_lanes ? warp->sync_members : 0);
    park(warp, step, waiting, WARP_SYNC);
}

static bool bind_red(Step *step, const Instruction *in)
{
    if (step->mod != MOD_popc && step->mod != MOD_and && step->mod != MOD_or)
        return false;
    if ((step->mod == MOD_popc) != (in->types[0] != TYPE_PRED))
        return false;
    if (in->count == 3) { /* d, barrier, predicate */
        step->c = step->b;
        step->negated_c = step->negated_b;
        step->b = -1;
    }
    step->run = run_sync;
    return step->c >= 0;
}

/* ---- The barrier of a cluster ---- */

/* Whether all threads of the cluster that have not ended have arrived. */
static bool all_arrived(const Cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++) {
        const Block *block = cluster->blocks[i];
        for (int w = 0; block && w < block->warp_count; w++)
            if (block->warps[w].state != WARP_DONE &&
                block->warps[w].alive & ~block->warps[w].cluster_arrived)
                return false;
    }
    return true;
}

static void pass_cluster(Block *block, const Step *step)
{
    block->epoch++;
    block->last_barrier = step;
    for (int w = 0; w < block->warp_count; w++)
        block->warps[w].cluster_arrived = 0;
}

/* The threads pass when they execute the wait. */
static void check_cluster(Block *block, const Step *step)
{
    Cluster alone = { .blocks = { block }, .count = 1 };
    const Cluster *cluster = block->cluster ? block->cluster : &alone;

    if (!all_arrived(cluster))
        return;
    for (int leaves = 0; leaves < 2; leaves++)
        for (int i = 0; i < cluster->count; i++)
            if (cluster->blocks[i])
                OBSERVE(block->launch, cluster_sync, cluster->blocks[i], leaves);
    for (int i = 0; i < cluster->count; i++)
        if (cluster->blocks[i])
            pass_cluster(cluster->blocks[i], step);
}

static void run_cluster_arrive(Warp *warp, const Step *step, uint32_t mask)
{
    warp->cluster_arrived |= mask;
    check_cluster(warp->block, step);
}

/* Repeats the step until the barrier is complete. */
static void run_cluster_wait(Warp *warp, const Step *step, uint32_t mask)
{
    Count *count = count_of(warp, step);

    if (warp->cluster_arrived & mask)
        check_cluster(warp->block, step);
    const bool waits = warp->cluster_arrived & mask;
    if (waits) {
        count->executed--;
        count->lanes -= (uint64_t) __builtin_popcount(mask);
        warp->pc--;
    }
    warp_polled(warp, waits);
}

bool bind_barrier(Step *step, const Instruction *in)
{
    if (has_mod(in, MOD_other))
        return false;
    if (has_mod(in, MOD_cluster)) {
        step->run = has_mod(in, MOD_arrive) ? run_cluster_arrive
                    : has_mod(in, MOD_wait) ? run_cluster_wait
                                            : NULL;
        return step->run && in->op == OP_barrier;
    }
    if (has_mod(in, MOD_warp))
        step->run = run_warp_sync;
    else if (has_mod(in, MOD_red))
        return bind_red(step, in);
    else if (has_mod(in, MOD_sync))
        step->run = run_sync;
    else if (has_mod(in, MOD_arrive) && in->count == 2)
        step->run = run_arrive;
    return step->run;
}

/* ---- A barrier that never completes ---- */

/* Lists the warps that are not at this barrier, each with its state: "32 threads of warp 1
 * (ended)". */
static void describe_missing(const Block *block, const Warp *waiting, char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (int i = 0; i < block->warp_count && used + 64 < size; i++) {
        const Warp *warp = &block->warps[i];
        bool done = warp->state == WARP_DONE;
        int threads = block->thread_count - i * LANES;
        if (warp->state == WARP_AT_BARRIER && warp->barrier == waiting->barrier)
            continue;
        used += (size_t) snprintf(text + used, size - used, "%s%d threads of warp %d ",
                                  used ? ", " : "", threads < LANES ? threads : LANES, i);
        if (done)
            used += (size_t) snprintf(text + used, size - used, "(ended)");
        else
            used += (size_t) snprintf(text + used, size - used, "(at barrier %d, line %d)",
                                      warp->barrier, step_line(warp->barrier_step));
    }
}

void barrier_report_stuck(Block *block)
{
    for (int i = 0; i < block->warp_count; i++) {
        Warp *warp = &block->warps[i];
        char missing[250];
        if (warp->state != WARP_AT_BARRIER)
            continue;
        const Barrier *barrier = &block->barriers[warp->barrier];
        describe_missing(block, warp, missing, sizeof missing);
        fail(warp, warp->barrier_step, __builtin_ctz(warp->alive), FINDING_BARRIER,
             "barrier %d never completes: %d of %d threads wait here; missing: %s", warp->barrier,
             barrier->arrived,
             barrier->expected == ALL_THREADS ? block->warp_count * LANES : barrier->expected,
             missing[0] ? missing : "none; it expects more threads than the block has");
        return;
    }
}
