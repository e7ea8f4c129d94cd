/* race_order.c - two threads use the same bytes, one of them writes, and nothing orders them.
 *
 * Every word of memory that is used has two Slots: its last write and its first read. (If an
 * allocation or a block's shared memory is accessed in less than 4 bytes, each byte has its own
 * Slots.) race_rules.c decides which accesses race, race_shared.c and race_global.c find the words
 * of an access, race_pool.c bounds the memory, race_report.c writes the findings.
 *
 * Each warp has a count of moments; a synchronisation begins a new one. seen[v][w] is the last
 * moment of warp w that warp v knows to be over. A barrier merges the knowledge of all warps that
 * pass it. bar.warp.sync ends the moment of one warp, and so do shfl.sync, vote.sync and
 * match.sync: PTX does not say that they order memory, but lanes that have reconverged there cannot
 * be ahead of each other. An access is ordered after another if the other's moment is over for its
 * warp. Lanes of a warp in different instructions are ordered by nothing else (Volta and later).
 *
 * A warp that has executed a fence and then an atomic or other strong write hands over: a warp that
 * makes a strong access afterwards is ordered after everything before the hand-over. The memory
 * model is stricter and requires both at the same address; this rule never reports a kernel that
 * hands over correctly. The same holds between blocks (race_global.c), where the fence must have
 * GPU scope.
 *
 * One launch runs at a time. Moments are never used twice, so that old entries are recognised by
 * their number, and nothing has to be cleared.
 */
#include "sim/check/race.h"
#include "sim/base/common.h"
#include "sim/exec/uses.h"

#include <stdlib.h>
#include <string.h>

enum {
    SITES = 4096,
    SITE_SLOTS = 2 * SITES,
    OLDEST_TO_KEEP = 1 << 30, /* then moments start at 1 again, with the next launch */
    LAST_MOMENT = INT32_MAX   /* vector code compares them as signed numbers */
};

/* EXPECTS: the first read of a compare-and-swap loop; the swap checks the value again, so the read
 * need not be atomic. OBSERVES: an atomic whose result is used. */
enum { EXPECTS = 1, OBSERVES };

static struct {
    uint32_t moment; /* the last one that was given out */
    BlockRaces *free;
    const Step *site[SITES];
    uint8_t role[SITES];
    short site_slot[SITE_SLOTS]; /* by hash: 1 + index; 0: free */
    int sites;
} state;

/* ---- Sites: steps by small numbers; 0 is unknown ---- */

static uint8_t role_at(const Access *x)
{
    const Code *code = x->warp->code;
    const Instruction *in = x->step->in;

    if (x->kind == ACCESS_LOAD)
        return uses_for_swap(code->function, in) ? EXPECTS : 0;
    return in->op == OP_atom && code->uses && uses_of(code, x->step, 0) & USE_COMPUTES ? OBSERVES
                                                                                       : 0;
}

uint32_t race_site(const Access *x)
{
    const Step *step = x->step;
    uint32_t at = (uint32_t) (((uintptr_t) step * 0x9e3779b97f4a7c15ull) >> 40) % SITE_SLOTS;

    for (; state.site_slot[at]; at = (at + 1) % SITE_SLOTS)
        if (state.site[state.site_slot[at] - 1] == step)
            return (uint32_t) state.site_slot[at] << 16;
    if (state.sites == SITES)
        return 0;
    state.site[state.sites] = step;
    state.role[state.sites] = role_at(x);
    state.site_slot[at] = (short) ++state.sites;
    return (uint32_t) state.sites << 16;
}

const Step *race_step(int site)
{
    return site > 0 && site <= state.sites ? state.site[site - 1] : NULL;
}

bool race_observed(int site)
{
    return race_step(site) && state.role[site - 1] == OBSERVES;
}

static void forget_sites(void)
{
    memset(state.site_slot, 0, sizeof state.site_slot);
    state.sites = 0;
}

/* ---- Moments ---- */

uint32_t race_moment(void)
{
    return state.moment < LAST_MOMENT ? ++state.moment : LAST_MOMENT;
}

uint32_t race_last_moment(void)
{
    return state.moment;
}

bool history_exhausted(void)
{
    return state.moment == LAST_MOMENT;
}

/* ---- Launches and blocks ---- */

static void free_blocks(void)
{
    while (state.free) {
        BlockRaces *next = state.free->next;
        free(state.free->words);
        free(state.free);
        state.free = next;
    }
}

static void forget_global(const Allocation *a, void *self)
{
    (void) self;
    free(a->races);
    ((Allocation *) a)->races = NULL;
}

void race_launch_begin(Launch *launch)
{
    if (!launch->check_races && !launch->sample)
        return;
    if (state.moment > OLDEST_TO_KEEP) {
        memory_each(forget_global, NULL);
        free_blocks();
        state.moment = 0;
    }
    pool_begin();
    race_global_begin();
    forget_sites();
}

void race_launch_end(Launch *launch)
{
    (void) launch;
    free_blocks();
    race_global_end();
    pool_end();
    forget_sites();
}

static void all_meet(BlockRaces *r, const Block *block)
{
    r->epoch = block->epoch;
    r->parts = false;
    r->full = state.moment;
    const uint32_t now = race_moment();
    for (int v = 0; v < WARPS_A_BLOCK; v++)
        r->now[v] = now;
}

static BlockRaces *new_block(Block *block)
{
    BlockRaces *r = state.free;

    if (r)
        state.free = r->next;
    else if (!(r = calloc(1, sizeof *r)))
        return NULL;
    r->first = r->segment = r->acquired = r->fenced = 0;
    r->fenced_for_all = r->ever_fenced = false;
    all_meet(r, block);
    return block->shared_races = r;
}

/* NULL: no memory for it. */
BlockRaces *race_of(Block *block)
{
    BlockRaces *r = block->shared_races;

    if (!r)
        return new_block(block);
    if (r->epoch != block->epoch)
        all_meet(r, block);
    return r;
}

void race_block_end(Block *block)
{
    BlockRaces *r = block->shared_races;

    if (!r)
        return;
    block->shared_races = NULL;
    r->next = state.free;
    state.free = r;
}

/* ---- What orders ---- */

void race_barrier(Block *block, uint32_t warps)
{
    BlockRaces *r = block->shared_races ? race_of(block) : NULL;
    uint32_t known[WARPS_A_BLOCK] = { 0 };

    if (!r)
        return;
    for (uint32_t left = warps; left; left &= left - 1) {
        int v = first_lane(left);
        for (int w = 0; w < WARPS_A_BLOCK; w++)
            known[w] = later(r->seen[v][w], known[w]);
    }
    for (uint32_t left = warps; left; left &= left - 1)
        known[first_lane(left)] = r->now[first_lane(left)];
    for (uint32_t left = warps; left; left &= left - 1) {
        memcpy(r->seen[first_lane(left)], known, sizeof known);
        r->now[first_lane(left)] = race_moment();
    }
    r->parts = true;
}

void race_warp_sync(Warp *warp, uint32_t lanes)
{
    BlockRaces *r = warp->block->shared_races ? race_of(warp->block) : NULL;

    (void) lanes; /* a part of the warp counts as the whole warp: this can only hide findings */
    if (!r || warp->number >= WARPS_A_BLOCK)
        return;
    r->seen[warp->number][warp->number] = r->now[warp->number];
    r->now[warp->number] = race_moment();
}

void race_fence(Warp *warp, bool of_block)
{
    BlockRaces *r = warp->block->check_races ? race_of(warp->block) : NULL;

    if (!r || warp->number >= WARPS_A_BLOCK)
        return;
    r->fenced |= 1u << warp->number;
    r->ever_fenced = true;
    r->fenced_for_all |= !of_block;
}

static void give(BlockRaces *r, int w)
{
    for (int i = 0; i < WARPS_A_BLOCK; i++)
        r->handed[i] = later(r->handed[i], r->seen[w][i]);
    r->handed[w] = r->now[w];
    r->now[w] = race_moment();
    r->fenced &= ~(1u << w);
}

static void take(BlockRaces *r, int v)
{
    for (int w = 0; w < WARPS_A_BLOCK; w++)
        r->seen[v][w] = later(r->seen[v][w], r->handed[w]);
    r->parts = true;
}

void race_hand_over(Visit *v)
{
    if (v->x->release)
        race_fence(v->x->warp, false);
    if (v->x->kind != ACCESS_STORE && v->r->ever_fenced)
        take(v->r, v->warp);
    if (v->x->kind != ACCESS_LOAD && v->r->fenced >> v->warp & 1)
        give(v->r, v->warp);
    v->now = v->r->now[v->warp];
}

bool race_begin_visit(Visit *v, Access *x)
{
    BlockRaces *r = race_of(x->warp->block);
    int warp = x->warp->number;

    if (!r || warp >= WARPS_A_BLOCK || history_exhausted())
        return false;
    v->x = x;
    v->r = r;
    v->warp = warp;
    v->now = r->now[warp];
    v->site = race_site(x);
    v->strong = x->strong || (v->site && state.role[(v->site >> 16) - 1] == EXPECTS);
    v->observes = race_observed((int) (v->site >> 16));
    v->met = v->same = false;
    return true;
}
