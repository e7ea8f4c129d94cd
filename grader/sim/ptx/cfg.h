/* cfg.h - where the lanes of a divergent branch reconverge. */
#ifndef SIM_PTX_CFG_H
#define SIM_PTX_CFG_H

#include "sim/ptx/module.h"

/* Sets rpc[i] for each conditional branch (bra with a guard, brx) to the first instruction of its
 * immediate post-dominator, or to instruction_count; elsewhere to -1. */
void find_reconvergence(const Function *function, int *rpc);

/* The first instruction of a loop's next round, and the next place after the loop that lanes pass.
 */
typedef struct LoopRound {
    int begin, end;
} LoopRound;

typedef struct Reconvergence {
    int *rpc; /* as above, but lanes that stay in a loop, or in a region, do not wait for those that
               * leave it */
    int *after;       /* for the first instruction of each block: that of the next block that all of
                       * its lanes pass that do not leave the loop first; -1: unknown or elsewhere */
    uint8_t *inner;   /* for each instruction: it is a place that lanes which leave a loop, or a
                       * region, do not pass */
    LoopRound *round; /* for a branch by which lanes begin another round of a loop; else -1, -1 */
} Reconvergence;

/* Returns false if memory runs out. Free with reconvergence_free. */
bool reconvergence_make(const Function *function, Reconvergence *found);
void reconvergence_free(Reconvergence *found);

/* Whether every path from instruction `from` (0: the function's beginning) to instruction `then`
 * passes instruction `first`. Returns false if memory runs out. Takes time in proportion to the
 * function's length. */
bool always_passes(const Function *function, int from, int first, int then);

#endif
