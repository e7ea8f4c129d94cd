/* walk.c - moves lanes through an automaton. */
#include "sim/exec/walk.h"
#include "sim/base/common.h"

#include <stdlib.h>

/* A cell that may not be known yet. NULL: the walk has failed. */
static __attribute__((noinline)) WalkCell *make_cell(Walk *walk, int state, int block)
{
    WalkCell **row = &walk->cells[state];

    if (!*row)
        *row = calloc((size_t) walk->block_count, sizeof **row);
    if (state >= walk->rows)
        walk->rows = state + 1;
    WalkCell *cell = *row ? *row + block : NULL;
    if (cell && !cell->to)
        cell->to = 1 + walk->next(walk, state, block, cell);
    walk->failed |= !cell || cell->to < 1;
    return walk->failed ? NULL : cell;
}

WalkCell *walk_cell(Walk *walk, int state, int block)
{
    WalkCell *row = walk->cells[state];

    return row && row[block].to > 0 ? &row[block] : make_cell(walk, state, block);
}

/* Adds lanes to the group of their state. Returns false if it is new. */
static bool add_to(struct WalkGroup *groups, int *count, uint32_t lanes, int state)
{
    for (int i = 0; i < *count; i++)
        if (groups[i].state == state) {
            groups[i].lanes |= lanes;
            return true;
        }
    groups[(*count)++] = (struct WalkGroup){ lanes, state };
    return false;
}

/* Groups of the lanes that stay, then of those that move. */
static void regroup(Warp *warp, const struct WalkGroup *moved, int count)
{
    int kept = 0;

    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].lanes)
            warp->groups[kept++] = warp->groups[i];
    warp->group_count = kept;
    for (int i = 0; i < count; i++)
        add_to(warp->groups, &warp->group_count, moved[i].lanes, moved[i].state);
}

/* The frequent case: the warp is one group, and all of its lanes move. */
static void move_only(Walk *walk, struct WalkGroup *group, int block)
{
    WalkCell *cell = walk_cell(walk, group->state, block);

    if (!cell)
        return;
    cell->lanes += lanes_in(group->lanes);
    cell->parts++;
    group->state = cell->to - 1;
}

/* Parts that come to a place where others of their warp stay have not been divided from these:
 * predicates replace the branch. `met`: one bit for each part that meets an earlier one. */
static void count_joined(WalkCell *const *cells, int count, uint32_t met)
{
    for (int i = 0; i < count; i++) {
        bool joins = false;
        for (int k = 0; k < count; k++)
            joins |= cells[k]->stays && cells[k]->place == cells[i]->place;
        cells[i]->joined += joins && !cells[i]->stays && !(met >> i & 1);
    }
}

static __attribute__((noinline)) void move_parts(Walk *walk, Warp *warp, int block)
{
    struct WalkGroup moved[LANES];
    WalkCell *cells[LANES];
    int count = 0, parts = 0;
    uint32_t met = 0;

    for (int i = 0; i < warp->group_count; i++) {
        const uint32_t lanes = warp->groups[i].lanes & warp->active;
        WalkCell *cell = lanes ? walk_cell(walk, warp->groups[i].state, block) : NULL;
        if (walk->failed)
            return;
        if (!cell)
            continue;
        warp->groups[i].lanes &= ~lanes;
        cell->lanes += lanes_in(lanes);
        cell->parts++;
        met |= (uint32_t) add_to(moved, &count, lanes, cell->to - 1) << parts;
        cell->met += met >> parts & 1;
        cells[parts++] = cell;
    }
    count_joined(cells, parts, met);
    regroup(warp, moved, count);
}

void walk_step(Warp *warp, int block)
{
    Walk *walk = warp->block->launch->walk;

    if (warp->group_count == 1 && !(warp->groups->lanes & ~warp->active))
        move_only(walk, warp->groups, block);
    else
        move_parts(walk, warp, block);
}

static void add_cell(WalkCell *to, const WalkCell *from)
{
    to->lanes += from->lanes;
    to->parts += from->parts;
    to->met += from->met;
    to->joined += from->joined;
}

void walk_add(Walk *to, const Walk *from)
{
    for (int state = 0; state < from->rows; state++)
        for (int block = 0; from->cells[state] && block < from->block_count; block++) {
            const WalkCell *cell = &from->cells[state][block];
            WalkCell *same = cell->parts ? walk_cell(to, state, block) : NULL;
            if (same)
                add_cell(same, cell);
        }
}

void walk_clear(Walk *walk)
{
    walk->failed = false;
    for (int state = 0; state < walk->rows; state++)
        for (int block = 0; walk->cells[state] && block < walk->block_count; block++) {
            WalkCell *cell = &walk->cells[state][block];
            cell->lanes = cell->parts = cell->met = cell->joined = 0;
        }
}
