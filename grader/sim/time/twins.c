/* twins.c - groups of SMs, and what the twins of a played SM do. */
#include "sim/time/twins.h"

#include <math.h>
#include <stdlib.h>

/* ---- Groups ---- */

/* Whether some SMs get one of few blocks more than others. */
static bool is_uneven(int sms, long blocks)
{
    enum { MANY = 4 }; /* per SM */

    return blocks < (long) MANY * sms && blocks % sms;
}

/* At least two SMs are played, so that they differ as neighbours do. */
void twins_begin(Twins *twins, Gpu *gpu, long blocks)
{
    const int sms = gpu->device.sms, groups = (sms + GROUP_SMS - 1) / GROUP_SMS;

    *twins = (Twins){ .gpu = gpu, .groups = groups > 2 ? groups : 2 };
    if (twins->groups >= sms || is_uneven(sms, blocks))
        twins->groups = 0;
}

Group twins_group(const Twins *twins, int sm)
{
    const int sms = twins->gpu->device.sms, groups = twins->groups;
    const int group = groups ? ((sm + 1) * groups - 1) / sms : sm;
    Group g = { .first = sm, .end = sm + 1, .played = sm };

    if (groups) {
        g.first = group * sms / groups;
        g.end = (group + 1) * sms / groups;
        g.played = (g.first + g.end) / 2;
    }
    return g;
}

bool twins_is_played(const Twins *twins, int sm)
{
    return !twins->groups || twins_group(twins, sm).played == sm;
}

/* ---- The work of blocks ---- */

static bool is_more(const BlockWork *a, const BlockWork *b)
{
    return a->of[WORK_INSTRUCTIONS] + a->of[WORK_MOVED] >
           b->of[WORK_INSTRUCTIONS] + b->of[WORK_MOVED];
}

static int most_of(BlockTrace *const *blocks, int count)
{
    int most = count / 2; /* if they are equal, the SM between the twins */

    for (int i = 0; i < count; i++)
        if (is_more(&blocks[i]->work, &blocks[most]->work))
            most = i;
    return most;
}

int twins_choose(Twins *twins, BlockTrace *const *blocks, int count, bool compares)
{
    const int most = most_of(blocks, count);

    for (int i = 0; i < count && compares; i++)
        for (int k = 0; k < BLOCK_WORKS; k++) {
            twins->played.of[k] += blocks[most]->work.of[k];
            twins->differs.of[k] += fabs(blocks[i]->work.of[k] - blocks[most]->work.of[k]);
        }
    return most;
}

bool twins_differ(const Twins *twins)
{
    static const double most = 0.03;
    bool differ = false;

    for (int k = 0; k < BLOCK_WORKS; k++)
        differ |= twins->differs.of[k] > most * twins->played.of[k];
    return differ;
}

/* ---- Warps of twins ---- */

void twins_begin_warp(PlayedWarp *w)
{
    const PlayedBlock *block = w->block;
    const ptrdiff_t number = w->trace - block->trace->warps;

    w->twins = block->twins;
    for (int i = 0; i < w->twins; i++) {
        const Trace *trace = &block->twin[i].trace->warps[number];
        w->twin_word[i] = trace->words;
        w->twin_end[i] = trace->words + trace->word_count;
    }
}

/* Whether the accesses from `at` on have as many words each as those of the warp. */
static bool is_alike(const PlayedWarp *w, const uint64_t *at, const uint64_t *end, int accesses)
{
    const uint64_t *first = w->access[0];
    int differ = 0;

    if (end - at < w->word - first)
        return false;
    for (int k = 0; k < accesses; k++)
        differ |= trace_following(at[w->access[k] - first] ^ *w->access[k]);
    return !differ;
}

/* The same accesses of a twin. Usually each begins as far from the first one as the warp's, so the
 * host need not read one to find the next. */
static void find_accesses(PlayedWarp *w, int twin, int accesses, const uint64_t **access)
{
    const uint64_t *at = w->twin_word[twin], *end = w->twin_end[twin];

    if (accesses && is_alike(w, at, end, accesses)) {
        for (int k = 0; k < accesses; k++)
            access[k] = at + (w->access[k] - w->access[0]);
        w->twin_word[twin] = at + (w->word - w->access[0]);
        return;
    }
    for (int k = 0; k < accesses; k++) {
        access[k] = at < end ? at : NULL;
        at = access[k] ? warp_skip_access(at) : at;
    }
    w->twin_word[twin] = at;
}

bool twins_stretch(PlayedWarp *w, int accesses)
{
    if (!warp_make_room(&w->twin_access, &w->twin_room, w->twins * accesses))
        return false;
    for (int i = 0; i < w->twins; i++)
        find_accesses(w, i, accesses, w->twin_access + i * accesses);
    w->accesses = accesses;
    return true;
}

/* A twin makes this access, which the SM that it repeats makes at `at`. */
static void repeat(const Twin *twin, const PlayedWarp *w, const uint64_t *access, uint64_t at,
                   bool past_l1, bool lists)
{
    const int64_t begins = (int64_t) at + twin->later;

    lsu_repeat(twin->sm, w, access, begins > 0 ? (uint64_t) begins : 0, past_l1, lists);
}

void twins_access(const PlayedWarp *w, int access, uint64_t at, bool lists)
{
    const PlayedBlock *block = w->block;

    for (int i = 0; i < w->twins; i++) {
        const uint64_t *words = w->twin_access[i * w->accesses + access];
        if (words)
            repeat(&block->twin[i], w, words, at, w->step->operation->past_l1, lists);
    }
}

void twins_end_warp(PlayedWarp *w, uint64_t now, bool lists)
{
    const PlayedBlock *block = w->block;

    for (int i = 0; i < w->twins; i++)
        for (; w->twin_word[i] < w->twin_end[i];
             w->twin_word[i] = warp_skip_access(w->twin_word[i]))
            repeat(&block->twin[i], w, w->twin_word[i], now, false, lists);
}

/* ---- The end ---- */

static void copy_steps(const Gpu *gpu, int from, int to, double share)
{
    for (int i = 0; i < gpu->operations_count; i++) {
        const Operations *o = &gpu->operations[i];
        const size_t steps = o->code ? (size_t) o->code->step_count + 1 : 0;
        for (size_t k = 0; k < steps; k++)
            spent_add(&o->spent[(size_t) to * steps + k], &o->spent[(size_t) from * steps + k],
                      share);
    }
}

static bool copy_plans(PlanUse *to, const PlanUse *from, double share)
{
    uint64_t *more = calloc((size_t) from->room + 1, sizeof *more);

    if (!more)
        return false;
    for (int i = 0; i < from->room; i++)
        more[i] = (uint64_t) llround((double) from->played[i] * share);
    free(to->played);
    to->played = more;
    to->room = from->room;
    return true;
}

/* Gives a twin the counters and the time of the SM that it repeated, in proportion to its number of
 * blocks. */
static void copy_sm(Sm *to, const Sm *from)
{
    const double share = from->started ? (double) to->started / (double) from->started : 0;

    for (int i = 0; i < to->gpu->device.schedulers_per_sm; i++)
        to->schedulers[i].free =
            to->ends < from->schedulers[i].free ? to->ends : from->schedulers[i].free;
    to->issued = (uint64_t) llround((double) from->issued * share);
    to->shared_busy = from->shared_busy * share;
    to->l1_busy = from->l1_busy * share;
    to->stores_busy = from->stores_busy * share;
    to->meters = from->meters;
    to->full = from->full;
    spent_add(&to->nowhere, &from->nowhere, share);
    for (int i = 0; i < WAITS; i++)
        to->waits[i] = from->waits[i] * share;
    to->gpu->failed |= !copy_plans(&to->plans, &from->plans, share);
    copy_steps(to->gpu, from->number, to->number, share);
}

void twins_end(Twins *twins)
{
    Gpu *gpu = twins->gpu;

    for (int i = 0; twins->groups && i < gpu->device.sms; i++) {
        const int played = twins_group(twins, i).played;
        if (i != played && gpu->sms[i].started)
            copy_sm(&gpu->sms[i], &gpu->sms[played]);
    }
    twins->groups = 0;
}
