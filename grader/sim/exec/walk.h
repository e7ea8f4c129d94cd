/* walk.h - follows the lanes of a kernel from basic block to basic block of the PTX, through an
 * automaton whose states the caller defines.
 *
 * sim/machine/path.c defines them as places in the machine code: so it knows by which of several
 * copies of a block each lane came, which sums over all rounds of a loop do not show. */
#ifndef SIM_EXEC_WALK_H
#define SIM_EXEC_WALK_H

#include "sim/base/common.h"
#include "sim/exec/exec.h"

enum { MOST_WALK_STATES = 2000 };

/* How often lanes in one state came to one basic block. */
typedef struct WalkCell {
    int to;          /* 1 + the state in which they are then; 0: not yet known */
    int place;       /* of that state: the caller's number */
    bool stays;      /* they were at this place before */
    uint64_t lanes;  /* that came there */
    uint64_t parts;  /* of warps that came there together from this state */
    uint64_t met;    /* of these parts, those that meet others there that come from other states */
    uint64_t joined; /* of the others, those that come to a place where lanes of their warp stay */
} WalkCell;

typedef struct Walk {
    int block_count;
    uint16_t *begins; /* by step: 1 + the number of the basic block that begins there; 0: none */
    WalkCell *cells[MOST_WALK_STATES]; /* by state, then block; NULL: none yet */
    int rows;                          /* those after so many states are NULL */
    /* Returns the state to which a block leads, and creates it if necessary; negative: too many.
     * Sets the cell's place and whether lanes stay there. */
    int (*next)(struct Walk *walk, int state, int block, WalkCell *cell);
    bool failed; /* memory ran out, or there are too many states */
} Walk;

/* The warp's active lanes begin basic block `block`. */
void walk_step(Warp *warp, int block);
/* The cell of this state and block, with its next state. NULL: the walk has failed. */
WalkCell *walk_cell(Walk *walk, int state, int block);
/* Adds the counts of a walk with the same states. */
void walk_add(Walk *to, const Walk *from);
void walk_clear(Walk *walk); /* its counts */

/* The frequent case: the warp is one group, all of its lanes move, and the cell is known. */
static inline bool walk_quickly(const Walk *of, Warp *warp, int block)
{
    struct WalkGroup *group = warp->groups;
    WalkCell *row = of->cells[group->state];

    if (warp->group_count != 1 || group->lanes & ~warp->active || !row || row[block].to < 1)
        return false;
    row[block].lanes += lanes_in(group->lanes);
    row[block].parts++;
    group->state = row[block].to - 1;
    return true;
}

static inline void walk(Warp *warp)
{
    const Walk *of = warp->block->launch->walk;
    const int block = of && !warp->frame ? of->begins[warp->pc] - 1 : -1;

    if (block >= 0 && !of->failed && !walk_quickly(of, warp, block))
        walk_step(warp, block);
}

#endif
