/* flow.h - how often each machine instruction of a launch ran, from the counters of its PTX.
 *
 * Threads flow through the machine's basic blocks: what enters a block leaves it. Loads, stores and
 * arithmetic tie blocks to lines of the PTX: the copies of one instruction, made by unrolling, add
 * up to the executions of its line. The flow that fits best is found by least squares without
 * negative numbers; lines that do not fit lose weight, since ptxas moves and removes instructions.
 */
#ifndef SIM_MACHINE_FLOW_H
#define SIM_MACHINE_FLOW_H

#include "sim/machine/issue.h"
#include "sim/machine/lowering.h"

typedef struct BlockFlow {
    double threads, warps; /* that executed the block */
    double taken, left;    /* threads that took its branch, or ended there */
} BlockFlow;

/* Fills in flows[lowering->block_count]. Returns false if this kernel is too large, the launch
 * failed, no plausible flow was found, or memory ran out. */
bool flow_find(const Lowering *lowering, const Launch *launch, BlockFlow *flows);

/* issues[f][i]: machine instructions of step i of the kernel (f 0) or of function f - 1. All are 0
 * on entry; a NULL row is not filled in. Returns false, and leaves all at 0, as flow_find does. */
bool count_machine(const Lowering *lowering, const Launch *launch, Issue **issues);

#endif
