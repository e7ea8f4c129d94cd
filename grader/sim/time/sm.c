/* sm.c - one SM plays the traces of the blocks that it holds.
 *
 * Each scheduler issues at most one instruction per cycle, from the warp that is ready first. If
 * several are ready, the warp that issued last continues; if it is not ready, the next one in
 * round-robin order issues (sim/time/choose.c). (This order agrees best with an H200:
 * docs/simulator-validation.md.) A warp issues in order. It is ready when the pipe is free and all
 * registers that its next instruction reads or writes are ready (the scoreboard). The time of a
 * result is known when the instruction is issued, since queues are first come, first served. So the
 * model need not simulate every cycle, and a waiting warp costs no host time.
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- Choosing (sim/time/choose.c) ---- */

static void choose_all(Sm *sm)
{
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++)
        scheduler_choose(&sm->schedulers[i]);
}

/* ---- The oldest block ----
 *
 * While warps of one block keep the load/store unit busy, a later block on an H200 issues hardly
 * any accesses (tests/sim/time/turns.txt). */

static uint8_t next_pipe(const Sm *sm, const PlayedWarp *w)
{
    const uint8_t pipe = w->step->operation->pipe;
    const bool is_younger = w->block != sm->oldest;

    /* The host could not predict a branch here. */
    return (uint8_t) (pipe + (is_younger & (pipe == PIPE_LSU)));
}

/* Finds the next oldest block when the oldest has ended. In each scheduler, warps are in the order
 * of their blocks. */
static void find_eldest(Sm *sm)
{
    const int count = sm->gpu->device.schedulers_per_sm;

    sm->oldest = NULL;
    for (int i = 0; i < count; i++) {
        const Scheduler *s = &sm->schedulers[i];
        if (s->count && (!sm->oldest || s->warp[0]->block->number < sm->oldest->number))
            sm->oldest = s->warp[0]->block;
    }
    for (int i = 0; i < count; i++) {
        Scheduler *s = &sm->schedulers[i];
        for (int k = 0; k < s->count && s->warp[k]->block == sm->oldest; k++)
            s->pipe[k] = next_pipe(sm, s->warp[k]);
    }
    choose_all(sm);
}

/* Called before a block comes or goes. */
static void note_full(Sm *sm, uint64_t now)
{
    FullTime *full = &sm->full;

    if (sm->resident == full->blocks && now > full->at) {
        full->cycles += (double) (now - full->at);
        full->issued += (double) (sm->issued - full->issued_at);
    }
    full->at = now;
    full->issued_at = sm->issued;
}

static void end_block(Sm *sm, PlayedBlock *block, uint64_t now)
{
    note_full(sm, now);
    sm->resident--;
    block->next = sm->ended;
    sm->ended = block;
    if (block == sm->oldest)
        find_eldest(sm);
}

/* ---- Issue ---- */

/* The next scheduler in round-robin order. */
static int next_scheduler(const Sm *sm, int scheduler)
{
    return scheduler + 1 == sm->gpu->device.schedulers_per_sm ? 0 : scheduler + 1;
}

/* Operands near the limits of the range send lanes to a subroutine of about 20 instructions that
 * depend on each other, half of them branches: 260 cycles on an H100, 65 latencies of arithmetic
 * (stall samples of kalman_tracks in tests/sim/blind). */
enum { LONG_WAY_ISSUES = 20 };

static uint64_t long_way(const Sm *sm)
{
    return 65 * (uint64_t) sm->gpu->device.alu_latency;
}

/* They take turns of the scheduler from other warps. */
static uint64_t long_way_issues(const Planned *step)
{
    return step->takes_long_way && !step->skipped ? LONG_WAY_ISSUES : 0;
}

static void play(Sm *sm, PlayedWarp *w, uint64_t now)
{
    const Operation *o = w->step->operation;
    uint64_t result = now + o->busy - o->cycles + o->latency, start;

    w->issued_until = now + o->issues;
    w->next = now + w->step->pace;
    w->held_by = o;
    if (w->step->skipped)
        return;
    if (o->constants)
        result += constants_operands(sm, w, now);
    switch ((Action) o->action) {
    case DO_BRANCH:
        w->next = now + o->latency;
        break;
    case DO_SEQUENCE:
        result = w->step->takes_long_way ? later(result, now + long_way(sm)) : result;
        w->next = result;
        break;
    case DO_BARRIER:
        w->next = NEVER;
        barrier_arrive(sm, w->block, now);
        break;
    case DO_FENCE:
        warp_put_off(sm, w, &w->next, w->stored);
        break;
    case DO_SHUFFLE:
        start = later(now, sm->lsu_free);
        result = start + o->latency;
        lsu_keep(sm, true, start, start + o->cycles);
        break;
    case DO_LOCAL:
        result = constants_load(sm, w, now);
        break;
    case DO_ACCESS:
        result = lsu_play(sm, w, now);
        break;
    case DO_STACK:
        result = lsu_play_stack(sm, w, now);
        break;
    case DO_COPY:
        warp_put_off(sm, w, &w->copied, lsu_play(sm, w, now));
        break;
    case DO_COMMIT:
        warp_commit(sm, w);
        break;
    case DO_WAIT:
        warp_put_off(sm, w, &w->next, warp_groups_there(sm, w, o->keep));
        warp_put_off(sm, w, &w->next, o->keep ? 0 : w->copied);
        break;
    default:
        break;
    }
    warp_set_result(sm, w, result, o);
}

static void leave(Sm *sm, Scheduler *s, int index, uint64_t now)
{
    PlayedWarp *w = s->warp[index];
    PlayedBlock *block = w->block;

    if (sm->gpu->watched)
        waits_end(sm, w);
    const size_t behind = (size_t) (--s->count - index);
    memmove(s->warp + index, s->warp + index + 1, behind * sizeof *s->warp);
    memmove(s->wake + index, s->wake + index + 1, behind * sizeof *s->wake);
    memmove(s->soon + index, s->soon + index + 1, behind * sizeof *s->soon);
    memmove(s->pipe + index, s->pipe + index + 1, behind * sizeof *s->pipe);
    s->last = -1;
    if (w->twins)
        twins_end_warp(w, now, sm->answers.on);
    w->next_spare = sm->spare;
    sm->spare = w;
    block->live--;
    block->ends = time_later(sm, later(block->ends, now + 1), w->stored);
    if (is_unknown(block->ends))
        answers_note(sm, &block->ends);
    if (block->live) {
        barrier_check(sm, block, w, now);
        return;
    }
    sm->ends = time_later(sm, sm->ends, block->ends);
    if (is_unknown(sm->ends))
        answers_note(sm, &sm->ends);
    end_block(sm, block, now);
}

/* Each scheduler has its share of the unit's lanes. So ptxas leaves 4 cycles between any two
 * accesses or shuffles of a warp, on sm_75 to sm_120. Those to global and local memory of other
 * warps wait, too; shared memory has not shown that (open launches of tests/sim/blind). */
static void use_port(Sm *sm, Scheduler *s, PlayedWarp *w, uint64_t now)
{
    const Planned *step = w->step;
    const Operation *o = step->operation;

    w->access_next = now + (uint64_t) sm->port_cycles * (step->accesses > 1 ? step->accesses : 1);
    if (o->action == DO_STACK || (step->accesses && o->memory != MEMORY_NEAR))
        s->port_free = w->access_next;
    sm->turn = next_scheduler(sm, (int) (s - sm->schedulers));
}

static void issue(Sm *sm, Scheduler *s)
{
    const int index = s->best;
    const uint64_t now = s->best_at;
    PlayedWarp *w = s->warp[index];
    const Operation *o = w->step->operation;

    if (now > s->free)
        limits_waited(sm, s, w, now);
    if (sm->gpu->watched)
        waits_issue(sm, s, index, now);
    if (o->pipe == PIPE_LSU)
        use_port(sm, s, w, now);
    else
        scheduler_use(s, o->pipe, now + o->busy);
    s->free = now + w->step->holds[s->last == index] + long_way_issues(w->step);
    if (s->free > now + o->issues) /* reading its operands occupies the scheduler, too */
        sm_spent(sm, o)->at[o->issue_limit] += (double) (s->free - now - o->issues);
    s->last = index;
    sm->issued += o->issues + long_way_issues(w->step);
    play(sm, w, now);
    w->step++;
    PlayedBlock *block = w->block;
    const bool waits = w->next == NEVER;
    if (warp_go_on(sm, w)) {
        if (w->step->accesses)
            lsu_ask(sm, w);
        scheduler_go_on(s, warp_wakes_at(w), next_pipe(sm, w));
    } else {
        block->waiting -= waits; /* the barrier was the warp's last instruction */
        leave(sm, s, index, now);
        scheduler_choose(s);
    }
    if (waits)
        barrier_check(sm, block, w, now);
}

/* Whether other warps may have used the load/store unit since the warp was chosen. */
static bool is_stale(const Scheduler *s)
{
    return s->best >= 0 && s->pipe_free[s->pipe[s->best]] > s->best_at;
}

/* Whether the scheduler may issue again without waiting for the other schedulers' turns. Computing
 * does not affect them, except for loads of constants, and the last step of a stretch, after which
 * its block may end. The limit is the cycle at which another scheduler could release warps of this
 * one from a barrier. */
static bool goes_on(const Scheduler *s, uint64_t until)
{
    if (s->best_at != s->free || s->best_at >= until || s->pipe[s->best] >= PIPE_BRANCH)
        return false;
    const Planned *step = s->warp[s->best]->step;
    return !step->is_last && !step->operation->constants && step->operation->action != DO_LOCAL;
}

/* In a block of an if, makes the compiler keep the branch. Without one, the host could not begin an
 * issue before it knows when all schedulers issue next; with one, it predicts which is first. */
#define KEEP_BRANCH() __asm__ volatile("")

/* If several schedulers have an access in the same cycle, they take turns. */
static inline __attribute__((always_inline)) Scheduler *first_among(Sm *sm, int count)
{
    int first = sm->turn;
    uint64_t at = sm->schedulers[first].best_at;

    for (int k = 1; k < count; k++) {
        const int i = sm->turn + k < count ? sm->turn + k : sm->turn + k - count;
        if (sm->schedulers[i].best_at < at) {
            first = i;
            at = sm->schedulers[i].best_at;
            KEEP_BRANCH();
        }
    }
    return &sm->schedulers[first];
}

static Scheduler *first_of(Sm *sm)
{
    enum { USUAL = 4 }; /* compiled without a loop */
    const int count = sm->gpu->device.schedulers_per_sm;

    return count == USUAL ? first_among(sm, USUAL) : first_among(sm, count);
}

/* Before cycles are too far from those that schedulers count from. */
static void rebase(Sm *sm, uint64_t until)
{
    if (until - sm->schedulers->base > UINT32_MAX / 2)
        for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++)
            scheduler_rebase(&sm->schedulers[i], until);
}

void sm_run(Sm *sm, uint64_t until)
{
    rebase(sm, until);
    sm->until = until;
    for (;;) {
        Scheduler *s = first_of(sm);
        const uint64_t alone = s->best_at + (uint64_t) sm->gpu->device.barrier_latency;
        if (s->best_at >= until)
            return;
        if (is_stale(s))
            scheduler_choose(s);
        else
            do
                issue(sm, s);
            while (goes_on(s, alone < until ? alone : until));
    }
}

uint64_t sm_next(Sm *sm)
{
    uint64_t next = NEVER;

    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++) {
        Scheduler *s = &sm->schedulers[i];
        if (is_stale(s))
            scheduler_choose(s);
        next = s->best_at < next ? s->best_at : next;
    }
    return next;
}

/* ---- New blocks ---- */

static bool add_warp(Sm *sm, int scheduler, PlayedBlock *block, const Trace *trace, uint64_t at)
{
    Scheduler *s = &sm->schedulers[scheduler];
    PlayedWarp *w = s->count < s->room ? warp_new(sm) : NULL;

    if (!w)
        return false;
    w->trace = trace;
    w->word = trace->words;
    w->block = block;
    twins_begin_warp(w);
    w->scheduler = sm->number * sm->gpu->device.schedulers_per_sm + scheduler;
    w->next = w->issued_until = at;
    if (!warp_find_step(sm, w)) { /* it has no instruction */
        w->next_spare = sm->spare;
        sm->spare = w;
        block->live--;
        return true;
    }
    const int i = s->count++;
    s->warp[i] = w;
    scheduler_set(s, i, warp_wakes_at(w), next_pipe(sm, w));
    return true;
}

/* Warps are assigned to the schedulers in turn. A block begins at the scheduler after the last one
 * of the previous block, or one later if that block gave all schedulers the same number of warps.
 * An H200 always does the former and usually the latter (tests/sim/time/turns.txt). */
static bool add_warps(Sm *sm, PlayedBlock *block, uint64_t at)
{
    const BlockTrace *trace = block->trace;
    const int first = sm->next_place;

    for (int i = 0; i < trace->warp_count; i++) {
        if (!add_warp(sm, sm->next_place, block, &trace->warps[i], at))
            return false;
        sm->next_place = next_scheduler(sm, sm->next_place);
    }
    if (sm->next_place == first)
        sm->next_place = next_scheduler(sm, first);
    return true;
}

bool sm_start(Sm *sm, const PlayedBlock *new, uint64_t at)
{
    PlayedBlock *block = sm->spare_blocks;

    if (block)
        sm->spare_blocks = block->next;
    else
        block = malloc(sizeof *block);
    if (!block)
        return false;
    *block = *new;
    block->number = sm->started++;
    block->live = new->trace->warp_count;
    block->begins = block->ends = at;
    note_full(sm, at);
    if (++sm->resident > sm->full.blocks)
        sm->full = (FullTime){ .blocks = sm->resident, .at = at, .issued_at = sm->issued };
    if (!sm->oldest)
        sm->oldest = block;
    if (!add_warps(sm, block, at))
        return false;
    if (!block->live)
        end_block(sm, block, at);
    choose_all(sm);
    return true;
}

/* ---- Allocation ---- */

static bool scheduler_open(Scheduler *s, int warps)
{
    const size_t n = (size_t) warps;

    *s = (Scheduler){ .room = warps, .best = -1, .last = -1, .best_at = NEVER };
    s->has_vectors = scheduler_has_vectors();
    s->wake = malloc(n * sizeof *s->wake);
    s->soon = malloc(n * sizeof *s->soon);
    s->pipe = malloc((n + SCHEDULER_SPARE) * sizeof *s->pipe);
    s->warp = malloc(n * sizeof *s->warp);
    return s->wake && s->soon && s->pipe && s->warp;
}

static void scheduler_close(Scheduler *s)
{
    free(s->wake);
    free(s->soon);
    free(s->pipe);
    free(s->warp);
}

bool sm_open(Sm *sm, struct Gpu *gpu, Memory *memory)
{
    const int schedulers = gpu->device.schedulers_per_sm;
    bool well;

    *sm = (Sm){ .gpu = gpu, .memory = memory, .number = (int) (sm - gpu->sms) };
    sm->half = sm->number % 2;
    sm->port_cycles = (LANES * schedulers + gpu->device.lsu_lanes - 1) / gpu->device.lsu_lanes;
    sm->schedulers = calloc((size_t) schedulers, sizeof *sm->schedulers);
    well = sm->schedulers;
    for (int i = 0; i < schedulers && well; i++)
        well = scheduler_open(&sm->schedulers[i], gpu->device.threads_per_sm / LANES + 1);
    return well;
}

static void free_spare(Sm *sm)
{
    while (sm->spare) {
        PlayedWarp *w = sm->spare;
        sm->spare = w->next_spare;
        warp_free(w);
    }
    while (sm->spare_blocks) {
        PlayedBlock *block = sm->spare_blocks;
        sm->spare_blocks = block->next;
        free(block);
    }
}

static void drop_block(PlayedBlock *block)
{
    trace_free(block->trace);
    for (int i = 0; i < block->twins; i++)
        trace_free(block->twin[i].trace);
    free(block);
}

/* Drops the remaining blocks of a launch that did not finish. */
static void drop_blocks(Sm *sm)
{
    for (int i = 0; sm->schedulers && i < sm->gpu->device.schedulers_per_sm; i++) {
        Scheduler *s = &sm->schedulers[i];
        while (s->count) {
            PlayedWarp *w = s->warp[--s->count];
            PlayedBlock *block = w->block;
            w->next_spare = sm->spare;
            sm->spare = w;
            if (--block->live == 0)
                drop_block(block);
        }
    }
    sm->resident = 0;
    sm->oldest = NULL;
}

void sm_close(Sm *sm)
{
    drop_blocks(sm);
    free_spare(sm);
    for (int i = 0; sm->schedulers && i < sm->gpu->device.schedulers_per_sm; i++)
        scheduler_close(&sm->schedulers[i]);
    free(sm->schedulers);
    free(sm->updates);
    cache_close(&sm->l1);
    plan_use_clear(&sm->plans);
    answers_free(&sm->answers);
}

bool sm_begin(Sm *sm, double l1_bytes)
{
    drop_blocks(sm);
    free_spare(sm); /* the next kernel may have more registers */
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++) {
        Scheduler *s = &sm->schedulers[i];
        s->free = s->port_free = 0;
        s->last = -1;
        memset(s->pipe_free, 0, sizeof s->pipe_free);
        scheduler_rebase(s, 0);
        scheduler_choose(s);
    }
    sm->lsu_free = sm->store_free = sm->accepted = sm->link_free = sm->barriers_free = 0;
    sm->sent = (UpdateQueue){ .last = 0 };
    memset(sm->sent_to, 0, sizeof sm->sent_to);
    sm->update_free = 0;
    constants_forget(sm);
    updates_forget(sm);
    sm->merging_count = 0;
    memset(sm->queue_free, 0, sizeof sm->queue_free);
    sm->issued = sm->l1_hits = sm->l1_misses = 0;
    sm->shared_busy = sm->l1_busy = sm->stores_busy = 0;
    sm->ends = 0;
    sm->started = 0;
    sm->next_place = sm->turn = 0;
    sm->meters = (Meters){ .at = 0 };
    sm->full = (FullTime){ 0 };
    plan_use_clear(&sm->plans);
    sm->nowhere = (Spent){ 0 };
    memset(sm->waits, 0, sizeof sm->waits);
    sm->until = 0;
    sm->next = NEVER;
    answers_forget(sm);
    sm->failed = false;
    return cache_open_again(&sm->l1, l1_bytes, sm->gpu->device.l1_ways) &&
           (!has_cause(sm->gpu->without, CAUSE_SECTORS) || cache_keep_words(&sm->l1));
}
