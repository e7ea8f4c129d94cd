/* turn.c - the loop over a warp's steps, at most one slice at a time.
 *
 * At the end of a slice the warp is watched. If it returns to exactly the same state, it waits for
 * something that only other warps can do, so they get a turn. If this repeats turn after turn while
 * no other warp makes progress, it waits forever, which blocks.c reports. */
#include "sim/exec/warp.h"
#include "sim/base/common.h"
#include "sim/exec/loops.h"
#include "sim/exec/trace.h"
#include "sim/exec/walk.h"

#include <stdlib.h>

static inline __attribute__((always_inline)) uint32_t lanes_for(const Warp *warp, const Step *step)
{
    if (step->guard < 0)
        return warp->active;
    return warp->active &
           (step->guard_negated ? ~warp->predicates[step->guard] : warp->predicates[step->guard]);
}

static inline __attribute__((always_inline)) void note_step(Launch *launch, Warp *warp, int pc,
                                                            uint32_t mask, bool traced)
{
    launch->clock++;
    if (traced)
        trace_step(warp, pc, !mask);
    if (traced && launch->step)
        launch->step(warp, pc, mask);
}

static inline void follow_step(Warp *warp, const Step *step, uint32_t mask)
{
    if (warp->followed)
        OBSERVE(warp->block->launch, follow, warp, step, mask);
}

/* One step, whatever it does. */
static inline __attribute__((always_inline)) void run_step(Warp *warp, bool traced)
{
    const int pc = warp->pc++;
    const Step *step = warp->code->steps + pc;
    const uint32_t mask = lanes_for(warp, step);
    Count *count = warp->counts + pc;

    note_step(warp->block->launch, warp, pc, mask, traced);
    follow_step(warp, step, mask);
    if (step->loop)
        loop_round(warp, step, mask);
    if (mask) {
        count->executed++;
        count->lanes += lanes_in(mask);
        step->run(warp, step, mask);
    } else {
        count->skipped++;
        if (step->in->op == OP_bra && !warp_passes(warp, step, warp->pc))
            warp_break(warp, step, warp->active, warp->pc, 0, 0);
        else if (step->leaves_loop && !step->taken_leaves)
            warp_leave_together(warp, warp->pc);
    }
}

/* A plain step that not all active lanes execute. */
static void count_idle(Count *count, uint32_t active, uint32_t mask)
{
    count->lanes -= lanes_in(active & ~mask);
    count->executed -= !mask;
    count->skipped += !mask;
}

/* The steps from `first` to the warp's pc. */
static inline void count_sequence(Warp *warp, int first, uint64_t lanes, bool traced)
{
    Count *begin = warp->counts + first, *end = warp->counts + warp->pc;

    begin->begun++;
    begin->begun_lanes += lanes;
    end->begun--;
    end->begun_lanes -= lanes;
    if (!traced)
        warp->block->launch->clock += (uint64_t) (end - begin);
}

/* Runs a plain step. Returns the next one. */
static inline __attribute__((always_inline)) const Step *run_plain(Warp *warp, const Step *step,
                                                                   bool traced)
{
    const int pc = (int) (step - warp->code->steps);
    const uint32_t active = warp->active, mask = lanes_for(warp, step);

    if (traced)
        note_step(warp->block->launch, warp, pc, mask, true);
    follow_step(warp, step, mask);
    if (mask != active)
        count_idle(warp->counts + pc, active, mask);
    if (mask)
        step->run(warp, step, mask);
    return step + 1;
}

/* Runs a row for all lanes: as many steps as the handlers pass on. Returns the next one. */
static inline __attribute__((always_inline)) const Step *run_row(Warp *warp, const Step *step,
                                                                 bool traced)
{
    const Step *last = step + step->bare - 1, *limit = warp->limit;

    warp->last_in_row = last < limit ? last : limit - 1;
    warp->at = step;
    if (traced)
        warp->trace->row = step;
    step->run(warp, step, UINT32_MAX);
    warp->last_in_row = NULL;
    const Step *next = warp->at + 1 < warp->limit ? warp->at + 1 : warp->limit;
    if (traced) {
        trace_row(warp, next);
        warp->trace->row = NULL;
        warp->block->launch->clock += (uint64_t) (next - step);
    }
    return next;
}

/* Steps of a row that is worth recording together. */
enum { TRACED_ROW = 3 };

/* Plain steps up to `end`; a row may continue after that, or return to the loop's first step.
 * Returns the next one, which is an earlier one after a fault. */
static inline __attribute__((always_inline)) const Step *run_straight(Warp *warp, const Step *step,
                                                                      const Step *end, bool traced)
{
    const bool is_full = warp->active == UINT32_MAX && !(traced && warp->block->launch->step);
    const int least = traced ? TRACED_ROW : 1;

    do {
        step = is_full && !warp->followed && step->bare >= least ? run_row(warp, step, traced)
                                                                 : run_plain(warp, step, traced);
    } while (step < end && warp->state == WARP_READY);
    return step;
}

/* Whether no lane takes the branch, so that it does nothing. */
static inline bool is_idle_branch(const Warp *warp, const Step *step, bool whole)
{
    return step->can_idle && !lanes_for(warp, step) &&
           (whole || warp_passes(warp, step, warp->pc + 1));
}

static inline __attribute__((always_inline)) const Step *run_idle(Warp *warp, const Step *step,
                                                                  bool traced)
{
    count_idle(warp->counts + warp->pc, warp->active, 0);
    if (traced)
        note_step(warp->block->launch, warp, warp->pc, 0, true);
    return step + 1;
}

/* ---- Branches and shuffles in rows ---- */

static void trace_idle(Warp *warp, const Step *step)
{
    trace_row(warp, step);
    trace_step(warp, (int) (step - warp->code->steps), true);
    warp->trace->row = step + 1;
}

static void run_idle_or_branch(Warp *warp, const Step *step, uint32_t mask)
{
    if (!warp->last_in_row) {
        step->inner(warp, step, mask);
        return;
    }
    if (step == warp->last_in_row || lanes_for(warp, step) || !warp_is_whole(warp)) {
        warp->at = step - 1; /* the row ends before it */
        return;
    }
    warp->pc = (int) (step - warp->code->steps);
    if (warp->trace)
        trace_idle(warp, step);
    count_idle(warp->counts + warp->pc, UINT32_MAX, 0);
    warp->pc++;
    walk(warp);
    warp->at = step + 1;
    step[1].run(warp, step + 1, UINT32_MAX);
}

/* In a trace a shuffle is recorded by itself, so the row ends before it. */
static void run_shuffle(Warp *warp, const Step *step, uint32_t mask)
{
    const bool ends = !warp->last_in_row || step == warp->last_in_row;

    if (warp->last_in_row && warp->trace) {
        warp->at = step - 1;
        return;
    }
    step->inner(warp, step, mask);
    if (ends)
        return;
    warp->at = step + 1;
    step[1].run(warp, step + 1, UINT32_MAX);
}

/* The steps from `begin` to the branch, once more for all lanes. */
static void count_round(Warp *warp, const Step *begin, const Step *branch)
{
    Count *first = count_of(warp, begin), *last = count_of(warp, branch);

    loop_round(warp, branch, UINT32_MAX);
    first->begun++;
    first->begun_lanes += LANES;
    last->begun--;
    last->begun_lanes -= LANES;
    last->executed++;
    last->lanes += LANES;
    warp->block->launch->clock += (uint64_t) (branch + 1 - begin);
}

/* A branch to the first step of its row. If all lanes take it, the row begins again: the sequence
 * seems to have been that much longer. */
static void run_loop_or_branch(Warp *warp, const Step *step, uint32_t mask)
{
    const Step *begin = warp->code->steps + step->jump.target;
    const long round = step + 1 - begin;

    if (!warp->last_in_row) {
        step->inner(warp, step, mask);
        return;
    }
    warp->at = step - 1;
    if (lanes_for(warp, step) != UINT32_MAX || warp->limit - (step + 1) < round ||
        !warp_is_whole(warp))
        return;
    warp->limit -= round;
    count_round(warp, begin, step);
    if (warp->trace) {
        trace_row(warp, step + 1);
        warp->trace->row = begin;
    }
    warp->pc = step->jump.target;
    walk(warp);
    warp->at = begin - 1;
}

void bind_in_row(Step *step)
{
    step->inner = step->run;
    step->run = step->in->op == OP_shfl ? run_shuffle
                : step->loop            ? run_loop_or_branch
                                        : run_idle_or_branch;
}

/* ---- Sequences ---- */

/* At most `most` steps that follow each other, or go round in a loop, for the same lanes. They are
 * counted together. Returns their number. `*other`: the next step is another one, and has been
 * passed to walk(). */
static inline __attribute__((always_inline)) long run_sequence(Warp *warp, long most, bool traced,
                                                               bool *other)
{
    const int first = warp->pc;
    const Step *steps = warp->code->steps, *step = steps + first, *const limit = step + most;
    const uint32_t active = warp->active;
    const bool whole = warp_is_whole(warp);

    *other = false;
    warp->limit = limit;
    do {
        walk(warp);
        if (step->straight)
            step = run_straight(
                warp, step,
                step->straight < warp->limit - step ? step + step->straight : warp->limit, traced);
        else if (!warp->followed && is_idle_branch(warp, step, whole))
            step = run_idle(warp, step, traced);
        else
            *other = true;
        warp->pc = (int) (step - steps);
    } while (!*other && step < warp->limit && warp->state == WARP_READY && warp->pc != warp->rpc &&
             (whole || !step->is_meeting));
    if (warp->pc > first)
        count_sequence(warp, first, lanes_in(active), traced);
    return warp->pc - first + (limit - warp->limit);
}

/* Runs at most `most` steps. Compiled twice, so that untraced runs do not pay for tracing. */
static inline __attribute__((always_inline)) void run_steps_as(Warp *warp, long most, bool traced)
{
    long steps = most;

    while (steps > 0 && warp->state == WARP_READY) {
        bool other;
        if (!warp_is_whole(warp) && warp->code->steps[warp->pc].is_meeting && warp_meet(warp))
            continue;
        steps -= run_sequence(warp, steps, traced, &other);
        if (other)
            run_step(warp, traced);
        steps -= other;
        if (warp->pc == warp->rpc && warp->state != WARP_DONE)
            warp_arrive(warp);
    }
    warp->executed += (uint64_t) (most - steps);
    warp->block->launch->executed += (uint64_t) (most - steps);
}

static void run_steps(Warp *warp, long most)
{
    if (warp->trace)
        run_steps_as(warp, most, true);
    else
        run_steps_as(warp, most, false);
}

/* The visits to the same step at which the warp's state is compared. They detect loops with a
 * period of up to 6 rounds, and some longer ones. */
static const unsigned char looks[] = { 1, 2, 3, 4, 5, 6, 8, 12, 24, 60 };

/* Remembers the warp's last load: a waiting warp waits for its value. */
static void keep_poll(Warp *warp)
{
    const Step *step = &warp->code->steps[warp->pc];

    if ((step->in->op == OP_ld && step->space != SPACE_PARAM && step->space != SPACE_LOCAL) ||
        step->in->op == OP_atom || step->in->op == OP_mbarrier) {
        warp->polled_step = step;
        warp->polled_lanes = warp->active;
    }
}

static bool meets_again(Warp *warp, const WarpSave *save)
{
    const int pc = warp->pc, depth = warp->depth, frame = warp->frame;
    const uint32_t active = warp->active;
    size_t look = 0;

    for (int i = 0, visits = 0; i < WATCH && look < sizeof looks && warp->state == WARP_READY;
         i++) {
        keep_poll(warp);
        run_steps(warp, 1);
        if (warp->pc != pc || warp->depth != depth || warp->frame != frame ||
            warp->active != active)
            continue;
        if (++visits != looks[look])
            continue;
        if (warp_is_as(warp, save))
            return warp->state == WARP_READY;
        look++;
    }
    return false;
}

/* True if the warp returns to its current state. */
static bool comes_back(Warp *warp)
{
    WarpSave save;
    bool back;

    warp->polled_step = NULL;
    warp->watched = true;
    back = warp_save(warp, &save) && meets_again(warp, &save);
    warp->watched = false;
    free(save.state);
    return back;
}

static const char *others_text(const Warp *warp, char *text, size_t size)
{
    uint32_t others = warp->alive & ~warp->active;

    text[0] = 0;
    if (others)
        describe_lanes(others, text, size);
    return text;
}

static void check_budget(Warp *warp)
{
    const Launch *launch = warp->block->launch;
    const bool waits = warp->state == WARP_AT_BARRIER && warp->barrier_step;
    const Step *step = waits ? warp->barrier_step : &warp->code->steps[warp->pc];
    const uint32_t lanes = warp->active ? warp->active : warp->alive;
    char others[120];

    /* A warp in a loop with a barrier ends its turns at the barrier, but the loop may still be
     * endless. */
    if (!launch->budget || launch->executed < launch->budget || warp->state == WARP_DONE || !lanes)
        return;
    others_text(warp, others, sizeof others);
    fail(warp, step, __builtin_ctz(lanes), FINDING_ENDLESS,
         "the kernel has run %llu warp instructions and was stopped here: is this an endless "
         "loop?%s%s",
         (unsigned long long) launch->executed, others[0] ? " Waiting for it: " : "", others);
}

static long slice_of(const Launch *launch)
{
    long slice = launch->cooperative ? COOPERATIVE_SLICE : SLICE;

    if (launch->budget && launch->executed >= launch->budget)
        return 1;
    if (launch->budget && launch->budget - launch->executed < (uint64_t) slice)
        slice = (long) (launch->budget - launch->executed);
    return slice;
}

void warp_turn(Warp *warp)
{
    Launch *launch = warp->block->launch;

    warp->sleeps = 0;
    /* A warp that was in a loop without progress is only checked for still being in it. */
    if (!warp->spins)
        run_steps(warp, slice_of(launch));
    if (warp->state == WARP_WAITING && warp->polls > MOST_POLLS)
        warp->state = WARP_READY; /* is it in a loop that never ends? */
    if (warp->state == WARP_READY) {
        bool back = comes_back(warp);
        warp->spins = back ? warp->spins + 1 : 0;
        if (back)
            warp_rotate(warp);
    } else {
        warp->spins = 0;
    }
    check_budget(warp);
}
