/* barriers.c - warps that wait at a barrier of their block. */
#include "sim/time/model.h"
#include "sim/time/scheduler.h"

static void choose_all(Sm *sm)
{
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++)
        scheduler_choose(&sm->schedulers[i]);
}

/* The unit for barriers handles one warp after the other, of all blocks, and takes a cycle more for
 * a block of one warp (tests/sim/time/mechanisms, barrier.sync.1.32). Returns when it is done. */
static uint64_t use_barriers(Sm *sm, const PlayedBlock *block, uint64_t now)
{
    sm->barriers_free = later(sm->barriers_free, now) +
                        (uint64_t) sm->gpu->device.barrier_warp_cycles + (block->live == 1);
    return sm->barriers_free;
}

/* A warp that votes reads the result through the same unit. */
static uint64_t continues_at(Sm *sm, const PlayedWarp *w, uint64_t arrived)
{
    const Device *device = &sm->gpu->device;

    if (!w->held_by || !w->held_by->votes)
        return arrived + (uint64_t) device->barrier_latency;
    return use_barriers(sm, w->block, arrived) +
           (uint64_t) (device->barrier_latency + device->vote_latency);
}

/* `arrived`: when the last warp has. */
static void release(Sm *sm, const PlayedBlock *block, const Operation *held_by, uint64_t arrived)
{
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++) {
        Scheduler *s = &sm->schedulers[i];
        for (int k = 0; k < s->count; k++)
            if (s->warp[k]->block == block && s->warp[k]->next == NEVER) {
                s->warp[k]->next = continues_at(sm, s->warp[k], arrived);
                s->warp[k]->held_by = held_by ? held_by : s->warp[k]->held_by;
                scheduler_set(s, k, warp_wakes_at(s->warp[k]), s->pipe[k]);
            }
    }
    choose_all(sm);
}

void barrier_arrive(Sm *sm, PlayedBlock *block, uint64_t now)
{
    block->waiting++;
    block->arrived = use_barriers(sm, block, now);
}

void barrier_check(Sm *sm, PlayedBlock *block, const PlayedWarp *last, uint64_t now)
{
    if (!block->waiting || block->waiting < block->live)
        return;
    block->waiting = 0;
    release(sm, block, limits_barrier(sm, last), later(block->arrived, now));
}

void sm_release_all(Sm *sm, uint64_t at)
{
    for (int i = 0; i < sm->gpu->device.schedulers_per_sm; i++)
        for (int k = 0; k < sm->schedulers[i].count; k++) {
            PlayedBlock *block = sm->schedulers[i].warp[k]->block;
            if (block->waiting) {
                block->waiting = 0;
                release(sm, block, NULL, at);
            }
        }
}
