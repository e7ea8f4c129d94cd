/* races.c - two threads use the same bytes, one of them writes, and nothing orders them.
 *
 * Every word of memory that is used has a Cell: its last write and its first read. (An allocation,
 * or a block's shared memory, that is used in pieces of less than 4 bytes has a Cell for each
 * byte.)
 *
 * Shared memory: each warp has a count of moments; a synchronisation begins a new one. seen[v][w]
 * is the last moment of warp w that warp v knows to be over. A barrier gives all that pass it the
 * knowledge of all; bar.warp.sync ends the moment of one warp, and so do shfl.sync and its like:
 * they do not order memory by the letter of PTX, but lanes that have met there can't be ahead of
 * each other any more. An access is ordered after another if its moment is over for the one who
 * asks. Lanes of a warp in different instructions are ordered by nothing else (Volta and later).
 * Volatile accesses to shared memory count as plain ones.
 *
 * Global memory: blocks of one launch are ordered by nothing, except where one has executed a fence
 * and then an atomic or other strong write, and the other a strong access after that: then all that
 * the first did before counts as ordered. That is more lenient than the memory model, which wants
 * the two to be at the same address; but it never blames a kernel that hands over properly. Strong
 * accesses never race with each other. A block's accesses up to such a hand-over are a segment.
 *
 * One launch runs at a time. Moments and segments are never used twice, so that what is left of an
 * earlier block or launch is known as old by its number, and nothing need be cleared.
 */
#include "races.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 4096, SITE_SLOTS = 2 * SITES };

static struct {
    uint32_t moment; /* the last one that was given out */
    BlockRaces *free;
    const Step *site[SITES];
    short site_slot[SITE_SLOTS]; /* by hash: 1 + index; 0: free */
    int sites;
} state;

/* ---- Sites: steps by small numbers; 0 is unknown ---- */

int races_site(const Step *step)
{
    uint32_t at = (uint32_t) (((uintptr_t) step * 0x9e3779b97f4a7c15ull) >> 40) % SITE_SLOTS;

    for (; state.site_slot[at]; at = (at + 1) % SITE_SLOTS)
        if (state.site[state.site_slot[at] - 1] == step)
            return state.site_slot[at];
    if (state.sites == SITES)
        return 0;
    state.site[state.sites] = step;
    return state.site_slot[at] = (short) ++state.sites;
}

const Step *race_step(int site)
{
    return site > 0 && site <= state.sites ? state.site[site - 1] : NULL;
}

/* ---- Launches and blocks ---- */

static void free_blocks(void)
{
    while (state.free) {
        BlockRaces *next = state.free->next;
        free(state.free->cells);
        free(state.free);
        state.free = next;
    }
}

static void forget_sites(void)
{
    memset(state.site_slot, 0, sizeof state.site_slot);
    state.sites = 0;
}

void races_launch_begin(Launch *launch)
{
    (void) launch;
    races_new_segments();
    if (state.moment > OLDEST_TO_KEEP) {
        free_blocks();
        state.moment = 0;
    }
    forget_sites();
}

void races_launch_end(Launch *launch)
{
    (void) launch;
    free_blocks();
    races_new_segments();
    forget_sites();
}

static void new_moment(BlockRaces *r, int warp)
{
    r->seen[warp][warp] = r->now[warp];
    r->now[warp] = ++state.moment;
}

static void all_meet(BlockRaces *r, const Block *block)
{
    int warps = block->warp_count < WARPS_A_BLOCK ? block->warp_count : WARPS_A_BLOCK;

    r->epoch = block->epoch;
    r->parts = false;
    r->full = state.moment++;
    for (int v = 0; v < warps; v++) {
        r->now[v] = state.moment;
        for (int w = 0; w < warps; w++)
            r->seen[v][w] = r->full;
    }
}

static BlockRaces *new_block(Block *block)
{
    BlockRaces *r = state.free;

    if (r)
        state.free = r->next;
    else if (!(r = calloc(1, sizeof *r)))
        return NULL;
    r->segment = r->acquired = 0;
    r->fenced = false;
    all_meet(r, block);
    return block->shared_races = r;
}

/* NULL: no memory for it. */
BlockRaces *races_of(Block *block)
{
    BlockRaces *r = block->shared_races;

    if (!r)
        return new_block(block);
    if (r->epoch != block->epoch)
        all_meet(r, block);
    return r;
}

void races_block_end(Block *block)
{
    BlockRaces *r = block->shared_races;

    if (!r)
        return;
    block->shared_races = NULL;
    r->next = state.free;
    state.free = r;
}

void races_barrier(Block *block, uint32_t warps)
{
    BlockRaces *r = block->shared_races ? races_of(block) : NULL;
    uint32_t known[WARPS_A_BLOCK] = { 0 };

    if (!r)
        return;
    for (uint32_t left = warps; left; left &= left - 1) {
        int v = first_lane(left);
        for (int w = 0; w < WARPS_A_BLOCK; w++)
            known[w] = r->seen[v][w] > known[w] ? r->seen[v][w] : known[w];
    }
    for (uint32_t left = warps; left; left &= left - 1)
        known[first_lane(left)] = r->now[first_lane(left)];
    for (uint32_t left = warps; left; left &= left - 1) {
        memcpy(r->seen[first_lane(left)], known, sizeof known);
        r->now[first_lane(left)] = ++state.moment;
    }
    r->parts = true;
}

void races_warp_sync(Warp *warp, uint32_t lanes)
{
    BlockRaces *r = warp->block->shared_races ? races_of(warp->block) : NULL;

    (void) lanes; /* a part of the warp counts as all of it: rather too few findings */
    if (r)
        new_moment(r, warp->number);
}

void races_fence(Warp *warp)
{
    BlockRaces *r = warp->block->shared_races;

    if (r)
        r->fenced = true;
}

/* ---- Cells ---- */

static Cells *new_cells(size_t bytes, int log2_grain)
{
    size_t count = (bytes >> log2_grain) + 1;
    Cells *cells = NULL;

    if (count < SIZE_MAX / sizeof(Cell) / 2)
        cells = calloc(1, sizeof *cells + count * sizeof(Cell));
    if (!cells)
        return NULL;
    cells->bytes = bytes;
    cells->log2_grain = log2_grain;
    return cells;
}

/* Those of memory of so many bytes, fine enough for accesses of `width`; NULL: no memory for them.
 */
Cells *races_cells(Cells **place, size_t bytes, int width)
{
    Cells *old = *place;
    int log2_grain = width < 4 ? 0 : 2;

    if (old && old->bytes >= bytes && old->log2_grain <= log2_grain)
        return old;
    if (old && old->log2_grain < log2_grain)
        log2_grain = old->log2_grain;
    Cells *cells = new_cells(bytes, log2_grain);
    for (size_t at = 0; old && cells && at < old->bytes && at < bytes; at += 1u << log2_grain)
        if (old->cell[at >> old->log2_grain].write.when |
            old->cell[at >> old->log2_grain].read.when)
            cells->cell[at >> log2_grain] = old->cell[at >> old->log2_grain];
    if (cells) {
        free(old);
        *place = cells;
    }
    return cells;
}

int races_follower(const Access *x, int leader)
{
    for (uint32_t left = x->mask & ~(1u << leader); left; left &= left - 1)
        if (x->shape->delta[first_lane(left)] == x->shape->delta[leader])
            return first_lane(left);
    return leader;
}

bool races_at_once(const Access *x, Meeting *m)
{
    if (x->kind != ACCESS_STORE || !x->shape->followed)
        return false;
    m->lane = first_lane(x->shape->followed);
    m->other_lane = races_follower(x, m->lane);
    m->at_once = m->one_warp = m->other_wrote = true;
    return true;
}
