/* cfg.h - where the lanes of a divergent branch reconverge. */
#ifndef SIM_PTX_CFG_H
#define SIM_PTX_CFG_H

#include "sim/ptx/module.h"

/* Sets rpc[i] for each conditional branch (bra with a guard, brx) to the first instruction of its
 * immediate post-dominator, or to instruction_count; elsewhere to -1. */
void find_reconvergence(const Function *function, int *rpc);

/* Whether every path from the function's beginning to instruction `then` passes instruction
 * `first`. Returns false if memory runs out. Takes time in proportion to the function's length. */
bool always_passes(const Function *function, int first, int then);

#endif
