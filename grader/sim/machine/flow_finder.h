/* flow_finder.h - shared by the parts of flow_find() and count_machine(): sim/machine/flow.c,
 * sim/machine/flow_copies.c, sim/machine/flow_rows.c, sim/machine/flow_branches.c,
 * sim/machine/flow_warps.c, sim/machine/flow_parts.c, sim/machine/flow_issues.c.
 */
#ifndef SIM_MACHINE_FLOW_FINDER_H
#define SIM_MACHINE_FLOW_FINDER_H

#include "sim/machine/fit.h"
#include "sim/machine/flow.h"
#include "sim/machine/lines.h"
#include "sim/machine/path.h"

/* The ways out of a block. */
typedef enum Way { WAY_NEXT, WAY_TAKEN, WAY_LEAVES, WAYS } Way;

typedef struct Edge {
    int from, to; /* to: a block; -1: out of the kernel or subroutine */
    Way way;
} Edge;

/* The copies of one line in one block. */
typedef struct Copies {
    int line, block;
    int all;          /* machine instructions */
    int counterparts; /* those that correspond to the PTX instruction one for one */
    int guarded;      /* of these */
    int guarded_all;
    int row; /* of the fit; -1: none */
} Copies;

/* A block with copies for a number of rounds of a loop. */
typedef struct Tier {
    double warps;    /* per thread; 0: unknown */
    double splits;   /* of an unrolled loop: parts of warps that come to its end; -1: unknown */
    double replaces; /* parts that come to the end of the loop in the PTX */
    double parts;    /* of warps that leave the loop, if the machine's loop is that of the PTX */
} Tier;

/* A conditional branch of the PTX that is one of the machine code too. */
typedef struct Branch {
    int block, row;
    double reached; /* threads, in the PTX */
} Branch;

typedef struct FlowFinder {
    const Lowering *lowering;
    const Launch *launch;
    LineCounts counts;
    Edge *edges;
    int edge_count;
    int *first_edge; /* by block; [block_count]: edge_count */
    Copies *copies;  /* by line, then block */
    int copies_count;
    int *unrolled;       /* by block: copies of the current basic block of the PTX */
    int unrolled_blocks; /* in which there are any */
    double *size;        /* by block: the expected number of threads */
    Tier *tiers;         /* by block */
    bool *limited;       /* by block: its warps follow from those of the blocks before it */
    PathCount *paths;    /* by block */
    Branch *branches;
    int branch_count;
    double threads;
    Fit fit;
    BlockFlow *flows;
} FlowFinder;

static inline unsigned flow_operation(const MachineInstruction *in)
{
    return in->opcode & MACHINE_OPERATION_BITS;
}

static inline bool flow_is_guarded(const MachineInstruction *in)
{
    return in->guard != MACHINE_ALWAYS || in->guard_negated;
}

/* Whether parts of a warp meet where the block begins: at a BSYNC or a WARPSYNC. */
static inline bool flow_begins_with_meeting(const Lowering *lowering, int block)
{
    const unsigned operation =
        flow_operation(&lowering->code.instructions[lowering->blocks[block].first]);

    return operation == MACHINE_BSYNC || operation == MACHINE_WARPSYNC;
}

/* Of integers: a quotient or remainder. */
static inline bool flow_is_quotient(const Step *step)
{
    const Instruction *in = step->in;

    return (in->op == OP_div || in->op == OP_rem) && in->type_count && type_is_whole(in->types[0]);
}

/* ---- Copies of each line (sim/machine/flow_copies.c) ---- */

/* Whether one execution of `in` always executes exactly one machine instruction of this operation,
 * or of the others for which it is true. */
bool flow_is_counterpart(const Instruction *in, unsigned operation);
/* Instructions that ptxas adds for its own purposes, or moves far from where the PTX has them: flow
 * control, parameters, special registers, constants. */
bool flow_is_elsewhere(int arch, unsigned operation);
/* IMAD.MOV and HFMA2.MMA: a product of nothing, which loads an operand of a real one. */
bool flow_is_move(const MachineInstruction *in);
/* ptxas neither removes nor moves these across branches. */
bool flow_is_effect(const Step *step);
/* Fills in copies[copies_count]. */
void flow_copies(FlowFinder *finder);
/* The end of the copies of the line, or of the basic block of the PTX, that starts at `first`. */
int flow_end_of_line(const FlowFinder *finder, int first);
int flow_end_of_block(const FlowFinder *finder, int first);

/* ---- Equations (sim/machine/flow_rows.c) ---- */

/* Indirect branches and calls lead to the blocks to which nothing else does. */
bool flow_is_entered_unseen(const FlowFinder *finder, int block);
/* Adds rows to the fit: what enters a block leaves it. */
void flow_conservation_rows(FlowFinder *finder);
/* Adds rows: copies add up to the executions of their line. Sets firmness[row] of each: how much a
 * deviation counts; negative if more threads than the row's value count little. */
void flow_line_rows(FlowFinder *finder, double *firmness);
/* Adds rows: subroutines of quotients and roots are called for the lanes that take the long way. */
void flow_long_way_rows(FlowFinder *finder, double *firmness);
/* The machine's branches of a line: several if it was copied. */
int flow_branches_of(const FlowFinder *finder, int line);
/* Adds rows: branches are taken as often as in the PTX, or not taken as often. */
void flow_branch_rows(FlowFinder *finder);
/* Weighs these rows after the fit has been solved. */
void flow_weigh_branches(FlowFinder *finder);

/* ---- Paths of lanes (sim/machine/flow_paths.c) ---- */

/* Adds rows: the threads that came to blocks. Call it after flow_line_rows(). */
void flow_path_rows(FlowFinder *finder, double *firmness);
/* Sets the block's warps, if they are known. */
bool flow_path_warps(FlowFinder *finder, int block);

/* ---- Warps (sim/machine/flow_warps.c) ---- */

/* Fills in the warps of finder->flows, whose threads are known. */
void flow_warps(FlowFinder *finder, const double *firmness);

/* ---- Parts of warps that meet (sim/machine/flow_parts.c) ---- */

/* Sets meetings[b]: the BSYNC at which the lanes meet again that block b divides; -1: none. Returns
 * false if out of memory. */
bool flow_meetings(const FlowFinder *finder, int *meetings);
/* The parts into which the indirect branch or call at the end of a block divides warps, besides one
 * per warp: each executes the branch by itself. */
double flow_switch_parts(const FlowFinder *finder, const int *meetings, int block);
/* The parts of warps that come to a BSYNC, besides one per warp. */
double flow_parts(const FlowFinder *finder, const int *meetings, int bsync);
/* The parts of warps that come to a block without a BSYNC, besides one per warp: each executes it
 * by itself up to its WARPSYNC. */
double flow_parts_before_sync(const FlowFinder *finder, int block);

/* ---- Machine instructions of each step (sim/machine/flow_issues.c) ---- */

/* When `flows` are known. Returns false if out of memory. */
bool flow_issues(const FlowFinder *finder, Issue **issues);

#endif
