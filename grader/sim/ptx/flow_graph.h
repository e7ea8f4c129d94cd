/* flow_graph.h - the basic blocks of a function and their edges, for cfg.c and cfg_loops.c. */
#ifndef SIM_PTX_FLOW_GRAPH_H
#define SIM_PTX_FLOW_GRAPH_H

#include "sim/ptx/cfg.h"

typedef struct FlowGraph {
    const Function *f;
    int *block_of; /* block of each instruction; [instruction_count]: the end */
    int *first;    /* first instruction of each block; [blocks]: instruction_count */
    int blocks;    /* the end is node number `blocks` */
    int last_exit; /* the block whose return counts, or -1 */
    bool *endless; /* for each block: it has an artificial edge to the end */
    /* Reversed edges: from a block to its predecessors. */
    int *before, *before_at;   /* before[before_at[b] .. before_at[b + 1] - 1] */
    int *after, *after_at;     /* edges in the forward direction */
    int *postdominator, *rank; /* rank: postorder number in the reversed graph; -1: none */
    int *order;
    int live; /* blocks in `order` */
    long work;
    /* Only the edges of this loop count; NULL: all edges. */
    const uint8_t *loop;
    int header;
} FlowGraph;

/* Whether lanes may take different ways at this instruction. */
bool flow_may_split(const Instruction *in);
/* Finds postdominator[]. Returns false if this is too much work, or if out of memory. */
bool flow_postdominators(FlowGraph *g);
/* cfg_loops.c. Replaces reconvergence points outside a branch's loop by those within it. The graph
 * has its postdominators, and loses them. */
void flow_refine(FlowGraph *g, Reconvergence *found);

#endif
