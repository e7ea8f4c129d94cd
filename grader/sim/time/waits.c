/* waits.c - tells observers when each warp waited and why, for traces.
 *
 * limits.c charges the schedulers' time, of which a wait takes a part only if no other warp issues
 * meanwhile. Here each warp has its own intervals: the cycles in which it issued, and between them
 * the waits. Together they are all the time from the start of its block to its last instruction.
 */
#include "sim/time/model.h"

WaitKind wait_for_turn_after(const Operation *o)
{
    if (!o)
        return WAIT_BLOCK;
    switch ((Action) o->action) {
    case DO_BRANCH:
        return WAIT_BRANCH;
    case DO_SEQUENCE:
        return WAIT_RESULT;
    case DO_FENCE:
    case DO_WAIT:
        return WAIT_FAR;
    default:
        return WAIT_BARRIER;
    }
}

WaitKind wait_for_result_of(const Operation *o)
{
    if (o && (o->action == DO_ACCESS || o->action == DO_COPY) && o->memory != MEMORY_NEAR)
        return WAIT_FAR;
    return o && o->pipe == PIPE_LSU ? WAIT_NEAR : WAIT_RESULT;
}

static const Step *step_of(const Gpu *gpu, const Operation *o)
{
    for (int i = 0; o && i < gpu->operations_count; i++) {
        const Operations *all = &gpu->operations[i];
        if (all->code && o->spent >= all->spent && o->spent < all->spent + all->code->step_count)
            return &all->code->steps[o->spent - all->spent];
    }
    return NULL;
}

static void tell(const Sm *sm, const PlayedWarp *w, int reason, const Operation *o, uint64_t begin,
                 uint64_t end)
{
    const BlockTrace *block = w->block->trace;
    Launch *launch = sm->gpu->watched;

    if (begin < end)
        OBSERVE(launch, warp_waited, launch,
                &(WarpWaited){ block->block, (int) (w->trace - block->warps), sm->number, reason,
                               step_of(sm->gpu, o), begin, end });
}

/* First it waits until it is ready, then for its pipe, then for the scheduler. */
void waits_issue(const Sm *sm, const Scheduler *s, int index, uint64_t now)
{
    PlayedWarp *w = s->warp[index];
    const Operation *o = w->step->operation, *maker = limits_maker(w);
    const uint64_t since = w->issued_until;
    uint64_t ready = later(since, s->wake[index]), piped;

    ready = ready < now ? ready : now;
    piped = later(ready, s->pipe_free[o->pipe]);
    piped = piped < now ? piped : now;
    if (w->next >= ready)
        tell(sm, w, (int) wait_for_turn_after(w->held_by), w->held_by, since, ready);
    else
        tell(sm, w, (int) wait_for_result_of(maker), maker, since, ready);
    tell(sm, w, WAIT_UNIT, o, ready, piped);
    tell(sm, w, WAITS, o, piped, now);
    w->issued += o->issues;
}

void waits_end(const Sm *sm, const PlayedWarp *w)
{
    const BlockTrace *block = w->block->trace;
    Launch *launch = sm->gpu->watched;

    OBSERVE(launch, warp_played, launch,
            &(WarpPlayed){ block->block, (int) (w->trace - block->warps), sm->number,
                           w->block->begins, w->issued_until, w->issued });
}
