/* flow_graph.h - the basic blocks of a function and their edges, for cfg*.c. */
#ifndef SIM_PTX_FLOW_GRAPH_H
#define SIM_PTX_FLOW_GRAPH_H

#include "sim/ptx/cfg.h"

/* A kernel whose analysis would exceed this runs without reconvergence, which is slow but correct.
 */
enum { FLOW_MOST_WORK = 5000000 };

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
    int live;               /* blocks in `order` */
    long work, region_work; /* at most FLOW_MOST_WORK each */
    /* Only the edges of this loop count; NULL: all edges. */
    const uint8_t *loop;
    int header;
} FlowGraph;

/* Whether lanes may take different ways at this instruction. */
bool flow_may_split(const Instruction *in);
/* Finds postdominator[]. Returns false if this is too much work, or if out of memory. */
bool flow_postdominators(FlowGraph *g);

/* Lanes that do not leave the region of a branch early. */
typedef struct FlowNearer {
    int *place;      /* for each block: the next block that these lanes pass; its post-dominator if
                      * there is no nearer one */
    uint8_t *splits; /* for each block: it has several ways, which all stay in the region */
    int *number;     /* of each block, in postorder; -1: none */
    int *last; /* of the blocks with an edge to each node that post-dominates them, the one that
                * ptxas places last; -1: none */
} FlowNearer;

/* cfg_regions.c. The graph has its postdominators. The functions return false if out of memory. */
bool flow_nearer_make(FlowNearer *nearer, int blocks);
void flow_nearer_free(FlowNearer *nearer);
bool flow_find_nearer(FlowGraph *g, FlowNearer *nearer);
/* The next node that lanes pass which do not leave the region with this end early; -1: unknown. */
int flow_step(const FlowGraph *g, const FlowNearer *nearer, int node, int end);

typedef struct FlowBarrier {
    int place; /* -1: none */
    bool may_leave;
} FlowBarrier;

/* cfg_barriers.c. Finds where the lanes of each block's branch meet. loop_of: for each block, the
 * blocks of the smallest loop with it, or NULL; meets: the next place that lanes pass which stay in
 * a round of it. Returns false if out of memory, or if this is too much work. */
bool flow_find_barriers(FlowGraph *g, const FlowNearer *nearer, const uint8_t *const *loop_of,
                        const int *meets, FlowBarrier *barriers);

/* cfg_loops.c. Replaces post-dominators as reconvergence points by the places of barriers. The
 * graph has its postdominators, and loses them. */
void flow_refine(FlowGraph *g, Reconvergence *found);

#endif
