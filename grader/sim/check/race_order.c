/* race_order.c - the happens-before relation. Two threads race if they access the same bytes, at
 * least one writes, and neither access happens before the other.
 *
 * Every accessed word of memory has two Slots: its last write and its first read. (If an allocation
 * or a block's shared memory is accessed in units of less than 4 bytes, each byte has its own
 * Slots.) race_rules.c decides which accesses race, race_shared.c and race_global.c find the words
 * of an access, race_lines.c keeps those of global memory, load_again.c has a fast path for loads
 * that repeat a pattern, race_defer.c puts off loads of shared memory, race_pool.c bounds the
 * memory, race_report.c writes the findings.
 *
 * Each synchronisation begins a new epoch of a warp. seen[v][w] is the last epoch of warp w that
 * happens before the current epoch of warp v. A barrier merges this knowledge for all warps that
 * pass it. bar.warp.sync begins a new epoch for one warp, and so do shfl.sync, vote.sync and
 * match.sync: PTX does not say that they order memory, but lanes that have reconverged there cannot
 * be ahead of each other. Nothing else orders lanes of a warp that execute different instructions
 * (Volta and later).
 *
 * A warp that has executed a fence and then an atomic or other strong write has released: a warp
 * that makes a strong access afterwards is ordered after everything before the release. The memory
 * model is stricter: it requires both accesses to use the same address. The simpler rule misses
 * some races, but never reports a correctly synchronised kernel. It also holds between blocks
 * (race_global.c), where the fence must have GPU scope.
 *
 * Only one launch runs at a time. Epoch numbers are not reused, so old entries are recognised by
 * their number and need not be cleared.
 */
#include "sim/check/race.h"
#include "sim/base/common.h"
#include "sim/exec/uses.h"

#include <stdlib.h>
#include <string.h>

enum {
    SITES = 4096,
    SITE_SLOTS = 2 * SITES,
    PLAIN_SITES = 256,
    OLDEST_TO_KEEP = 1 << 30, /* after this epoch, the next launch starts at 1 again */
    LAST_EPOCH = INT32_MAX    /* vector code compares them as signed numbers */
};

/* EXPECTS: the first read of a compare-and-swap loop, which need not be atomic because the swap
 * checks the value again. OBSERVES: an atomic whose result is used. */
enum { EXPECTS = 1, OBSERVES };

static struct {
    uint32_t epoch; /* the last that was assigned */
    BlockRaces *free;
    const Step *site[SITES];
    uint8_t role[SITES];
    short site_slot[SITE_SLOTS]; /* by hash: 1 + index; 0: free */
    int sites;
    /* The sites of steps without a role, by the steps' numbers. */
    struct {
        uint32_t number, site;
    } plain[PLAIN_SITES];
} state;

/* ---- Sites: small numbers for steps; 0: unknown ---- */

static uint8_t role_at(const Access *x)
{
    const Code *code = x->warp->code;
    const Instruction *in = x->step->in;

    if (x->kind == ACCESS_LOAD)
        return uses_for_swap(code->module, code->function, in) ? EXPECTS : 0;
    return in->op == OP_atom && code->uses &&
                   uses_of(code, x->step, 0) & (USE_COMPUTES | USE_PASSES)
               ? OBSERVES
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
    memset(state.plain, 0, sizeof state.plain);
    state.sites = 0;
}

/* ---- Epochs ---- */

uint32_t race_next_epoch(void)
{
    return state.epoch < LAST_EPOCH ? ++state.epoch : LAST_EPOCH;
}

uint32_t race_last_epoch(void)
{
    return state.epoch;
}

bool history_exhausted(void)
{
    return state.epoch == LAST_EPOCH;
}

/* ---- Launches and blocks ---- */

static void free_blocks(void)
{
    while (state.free) {
        BlockRaces *next = state.free->next;
        free(state.free->words);
        free(state.free->deferred);
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
    if (state.epoch > OLDEST_TO_KEEP) {
        memory_each(forget_global, NULL);
        free_blocks();
        state.epoch = 0;
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

static void order_all(BlockRaces *r, const Block *block)
{
    r->block_epoch = block->epoch;
    r->partial_sync = r->records_loads = false;
    r->deferred_count = 0;
    r->last_barrier = state.epoch;
    const uint32_t now = race_next_epoch();
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
    order_all(r, block);
    return block->shared_races = r;
}

/* Returns NULL if out of memory. */
BlockRaces *race_of(Block *block)
{
    BlockRaces *r = block->shared_races;

    if (!r)
        return new_block(block);
    if (r->block_epoch != block->epoch)
        order_all(r, block);
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

/* ---- Synchronisation ---- */

void race_barrier(Block *block, uint32_t warps)
{
    BlockRaces *r = block->shared_races ? race_of(block) : NULL;
    uint32_t known[WARPS_A_BLOCK] = { 0 };

    if (!r)
        return;
    race_record_deferred(r);
    for (uint32_t left = warps; left; left &= left - 1) {
        int v = first_lane(left);
        for (int w = 0; w < WARPS_A_BLOCK; w++)
            known[w] = later(r->seen[v][w], known[w]);
    }
    for (uint32_t left = warps; left; left &= left - 1)
        known[first_lane(left)] = r->now[first_lane(left)];
    for (uint32_t left = warps; left; left &= left - 1) {
        memcpy(r->seen[first_lane(left)], known, sizeof known);
        r->now[first_lane(left)] = race_next_epoch();
    }
    r->partial_sync = true;
}

void race_warp_sync(Warp *warp, uint32_t lanes)
{
    BlockRaces *r = warp->block->shared_races ? race_of(warp->block) : NULL;

    (void) lanes; /* treat the whole warp as synchronised: this may miss races, never invent one */
    if (!r || warp->number >= WARPS_A_BLOCK)
        return;
    race_record_deferred(r);
    r->seen[warp->number][warp->number] = r->now[warp->number];
    r->now[warp->number] = race_next_epoch();
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

static void release_in_block(BlockRaces *r, int w)
{
    for (int i = 0; i < WARPS_A_BLOCK; i++)
        r->released[i] = later(r->released[i], r->seen[w][i]);
    r->released[w] = r->now[w];
    r->now[w] = race_next_epoch();
    r->fenced &= ~(1u << w);
}

static void acquire_in_block(BlockRaces *r, int v)
{
    race_record_deferred(r);
    for (int w = 0; w < WARPS_A_BLOCK; w++)
        r->seen[v][w] = later(r->seen[v][w], r->released[w]);
    r->partial_sync = true;
}

void race_hand_over(Visit *v)
{
    if (v->x->release)
        race_fence(v->x->warp, false);
    if (v->x->kind != ACCESS_STORE && v->r->ever_fenced)
        acquire_in_block(v->r, v->warp);
    if (v->x->kind != ACCESS_LOAD && v->r->fenced >> v->warp & 1)
        release_in_block(v->r, v->warp);
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
    const uint8_t role = v->site ? state.role[(v->site >> 16) - 1] : 0;
    v->strong = x->strong || role == EXPECTS;
    v->observes = role == OBSERVES;
    v->raced = v->same = false;
    if (v->site && !role) {
        state.plain[x->step->number % PLAIN_SITES].number = x->step->number;
        state.plain[x->step->number % PLAIN_SITES].site = v->site;
    }
    return true;
}

bool race_begin_again(Visit *v, const Warp *warp, const Step *step)
{
    const uint32_t at = step->number % PLAIN_SITES;
    BlockRaces *r = warp->block->shared_races;

    if (state.plain[at].number != step->number || !r || r->block_epoch != warp->block->epoch ||
        warp->number >= WARPS_A_BLOCK || state.epoch == LAST_EPOCH)
        return false;
    v->r = r;
    v->warp = warp->number;
    v->now = r->now[v->warp];
    v->site = state.plain[at].site;
    v->strong = v->observes = v->raced = v->same = false;
    return true;
}
