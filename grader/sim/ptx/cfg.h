/* cfg.h - where the lanes of a divergent branch reconverge. */
#ifndef SIM_PTX_CFG_H
#define SIM_PTX_CFG_H

#include "sim/ptx/module.h"

/* Sets rpc[i] for each conditional branch (bra with a guard, brx) to the first instruction of its
 * immediate post-dominator, or to instruction_count; elsewhere to -1. */
void find_reconvergence(const Function *function, int *rpc);

typedef struct Reconvergence {
    int *rpc;   /* as above, but lanes that stay in a loop do not wait for those that leave it */
    int *after; /* for the first instruction of each block: that of the next block that all of
                 * its lanes pass that do not leave the loop first; -1: unknown or elsewhere */
    uint8_t *inner; /* for each instruction: it is such a place in a loop, which lanes that leave
                     * the loop do not pass */
} Reconvergence;

/* Returns false if memory runs out. Free with reconvergence_free. */
bool reconvergence_make(const Function *function, Reconvergence *found);
void reconvergence_free(Reconvergence *found);

/* Whether every path from the function's beginning to instruction `then` passes instruction
 * `first`. Returns false if memory runs out. Takes time in proportion to the function's length. */
bool always_passes(const Function *function, int first, int then);

#endif
