/* walk.c - moves lanes through an automaton. */
#include "sim/exec/walk.h"

#include <stdlib.h>

/* NULL: the walk has failed. */
static WalkCell *cell_at(Walk *walk, int state, int block)
{
    WalkCell **row = &walk->cells[state];

    if (!*row)
        *row = calloc((size_t) walk->block_count, sizeof **row);
    WalkCell *cell = *row ? *row + block : NULL;
    if (cell && !cell->to)
        cell->to = 1 + walk->next(walk, state, block);
    walk->failed = !cell || cell->to < 1;
    return walk->failed ? NULL : cell;
}

/* The lanes of `mask` that are in the state of the first of them. */
static uint32_t lanes_like_first(const Warp *warp, uint32_t mask)
{
    const uint16_t state = warp->places[__builtin_ctz(mask)];
    uint32_t same = 0;

    for (int lane = 0; lane < LANES; lane++)
        same |= (uint32_t) (warp->places[lane] == state) << lane;
    return same & mask;
}

static void move(Warp *warp, uint32_t lanes, int state)
{
    for (int lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1)
            warp->places[lane] = (uint16_t) state;
}

void walk_step(Warp *warp, int block)
{
    Walk *walk = warp->block->launch->walk;
    int reached[LANES], count = 0;

    for (uint32_t left = warp->active; left;) {
        const uint32_t lanes = lanes_like_first(warp, left);
        const int state = warp->places[__builtin_ctz(lanes)];
        WalkCell *cell = cell_at(walk, state, block);
        if (!cell)
            return;
        const int to = cell->to - 1;
        bool meets = false;
        for (int i = 0; i < count; i++)
            meets |= reached[i] == to;
        reached[count++] = to;
        cell->lanes += (unsigned) __builtin_popcount(lanes);
        cell->parts++;
        cell->met += meets;
        if (to != state)
            move(warp, lanes, to);
        left &= ~lanes;
    }
}
