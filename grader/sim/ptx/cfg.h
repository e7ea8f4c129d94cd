/* cfg.h - where the lanes of a divergent branch reconverge. */
#ifndef SIM_PTX_CFG_H
#define SIM_PTX_CFG_H

#include "sim/ptx/module.h"

/* rpc[i] of each conditional branch (bra with a guard, brx): the first instruction of its immediate
 * post-dominator, or instruction_count. -1 elsewhere. */
void find_reconvergence(const Function *function, int *rpc);

#endif
