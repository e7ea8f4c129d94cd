/* typical.c - the warp in whose instructions as many lanes are active as in the median instruction.
 *
 * Warps are ordered by their average of active lanes and weighted by their instructions, so warps
 * that end at once, such as those outside an array, count little. Of many blocks a random sample is
 * kept.
 */
#include "sim/record/typical.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 256, MOST_WARPS = 32, COUNT = MOST_BLOCKS * MOST_WARPS };

typedef struct WarpLanes {
    int64_t block;
    int warp;
    uint64_t executed, lanes;
} WarpLanes;

static WarpLanes warps[COUNT];
static uint32_t kept[MOST_BLOCKS]; /* the scrambled number of each place's block */

void typical_begin(void)
{
    memset(warps, 0, sizeof warps);
    memset(kept, 0xff, sizeof kept);
}

/* The place of a block; of several blocks with one place, the one with the least scrambled number
 * has it. NULL: another block has it. */
static WarpLanes *place_of(int64_t block)
{
    const uint32_t scrambled = (uint32_t) block * 2654435769u;
    const uint32_t place = scrambled % MOST_BLOCKS;

    if (scrambled > kept[place])
        return NULL;
    if (scrambled < kept[place])
        memset(&warps[place * MOST_WARPS], 0, MOST_WARPS * sizeof *warps);
    kept[place] = scrambled;
    return &warps[place * MOST_WARPS];
}

void typical_step(const Warp *warp, uint32_t executed)
{
    WarpLanes *w = executed && warp->number < MOST_WARPS ? place_of(warp->block->number) : NULL;

    if (!w)
        return;
    w += warp->number;
    w->block = warp->block->number;
    w->warp = warp->number;
    w->executed++;
    w->lanes += (uint64_t) __builtin_popcount(executed);
}

static double active_of(const WarpLanes *w)
{
    return w->executed ? (double) w->lanes / (double) w->executed : 0;
}

/* By active lanes; of equal warps, the first block's first one. */
static int by_lanes(const void *left, const void *right)
{
    const WarpLanes *a = left, *b = right;
    const double x = active_of(a), y = active_of(b);

    if (x != y)
        return x < y ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->warp - b->warp;
}

void typical_end(RecordedLaunch *to)
{
    uint64_t all = 0, below = 0;
    int at = 0, first;

    for (int i = 0; i < COUNT; i++)
        all += warps[i].executed;
    if (!all)
        return;
    qsort(warps, COUNT, sizeof *warps, by_lanes);
    while (2 * (below + warps[at].executed) < all)
        below += warps[at++].executed;
    for (first = at; first > 0 && active_of(&warps[first - 1]) == active_of(&warps[at]); first--)
        ;
    to->typical_block = warps[first].block;
    to->typical_warp = warps[first].warp;
}
