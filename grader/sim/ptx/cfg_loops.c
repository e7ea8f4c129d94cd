/* cfg_loops.c - where lanes that stay in a loop reconverge, although others leave it.
 *
 * Lanes do not wait for lanes that leave a loop by a break: ptxas removes these from the
 * convergence barrier (BREAK). So in for (...) { if (a) { if (b) break; x(); } y(); } lanes
 * reconverge before y(). Within a loop, only edges that stay in it count, and a round ends where
 * the next one begins.
 */
#include "sim/ptx/flow_graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct FlowLoop {
    uint8_t *blocks; /* for each block: it is in the loop */
    int header, size;
} FlowLoop;

enum { MOST_LOOPS = 256 };

/* The loops of a function, smaller ones first. */
typedef struct FlowLoops {
    FlowLoop loops[MOST_LOOPS];
    int count;
} FlowLoops;

/* Adds the blocks from which `tail` can be reached without passing the header. Returns false if the
 * function's beginning is one of them: then lanes can enter the loop elsewhere. */
static bool add_to_loop(const FlowGraph *g, FlowLoop *loop, int tail, int *open)
{
    int depth = 0;

    loop->blocks[loop->header] = 1;
    if (!loop->blocks[tail])
        loop->blocks[open[depth++] = tail] = 1;
    while (depth) {
        const int block = open[--depth];
        if (block == 0)
            return false;
        for (int at = g->before_at[block]; at < g->before_at[block + 1]; at++)
            if (!loop->blocks[g->before[at]])
                loop->blocks[open[depth++] = g->before[at]] = 1;
    }
    return true;
}

/* Lanes may leave it by conditional branches only. */
static bool has_simple_exits(const FlowGraph *g, const FlowLoop *loop)
{
    for (int b = 0; b < g->blocks; b++)
        if (loop->blocks[b] && g->f->instructions[g->first[b + 1] - 1].op == OP_brx)
            return false;
    return true;
}

/* The loop of all edges back to this header, in which lanes go backwards in the code. */
static bool make_loop(const FlowGraph *g, FlowLoop *loop, int header)
{
    bool found = false, well = true;

    *loop = (FlowLoop){ .header = header, .blocks = calloc((size_t) g->blocks + 1, 1) };
    for (int at = g->before_at[header]; loop->blocks && well && at < g->before_at[header + 1]; at++)
        if (g->before[at] >= header && g->before[at] < g->blocks) {
            found = true;
            well = add_to_loop(g, loop, g->before[at], g->order);
        }
    for (int b = 0; loop->blocks && b < g->blocks; b++)
        loop->size += loop->blocks[b];
    if (loop->blocks && found && well && has_simple_exits(g, loop))
        return true;
    free(loop->blocks);
    return false;
}

static int by_loop_size(const void *a, const void *b)
{
    return ((const FlowLoop *) a)->size - ((const FlowLoop *) b)->size;
}

static void find_loops(const FlowGraph *g, FlowLoops *loops)
{
    for (int b = 0; b < g->blocks && loops->count < MOST_LOOPS; b++)
        loops->count += make_loop(g, &loops->loops[loops->count], b);
    qsort(loops->loops, (size_t) loops->count, sizeof *loops->loops, by_loop_size);
}

/* Whether a branch has several ways to stay in the loop. */
static bool splits_inside(const FlowGraph *g, int block)
{
    const int first = g->after_at[block];

    for (int at = first + 1; at < g->after_at[block + 1]; at++)
        if (g->after[at] != g->after[first])
            return flow_may_split(&g->f->instructions[g->first[block + 1] - 1]);
    return false;
}

static bool is_in(const FlowGraph *g, const FlowLoop *loop, int block)
{
    return block >= 0 && block < g->blocks && loop->blocks[block];
}

/* The places at which the lanes that stay in the loop meet. `meets`: by block; the end is
 * g->blocks. `outside`: the same if no loop is taken into account. */
static bool find_meetings(FlowGraph *g, const FlowLoop *loop, const int *outside, int *meets,
                          Reconvergence *found)
{
    g->loop = loop->blocks;
    g->header = loop->header;
    const bool well = flow_postdominators(g);

    for (int b = 0; b < g->blocks && well; b++) {
        const int inside = g->postdominator[b], last = g->first[b + 1] - 1;
        const bool is_inside = inside >= 0 && inside < g->blocks;
        if (!loop->blocks[b])
            continue;
        if (is_inside && !is_in(g, loop, meets[b]))
            meets[b] = inside;
        while (!is_inside && is_in(g, loop, meets[b]))
            meets[b] = outside[meets[b]];
        if (is_inside && splits_inside(g, b) && found->rpc[last] >= 0 &&
            !is_in(g, loop, g->block_of[found->rpc[last]])) {
            found->rpc[last] = g->first[inside];
            found->inner[g->first[inside]] = 1;
        }
    }
    g->loop = NULL;
    return well;
}

/* If the analysis of loops was not finished, none counts: places of some loops would be useless
 * without `after` of all blocks. */
static void restore(const FlowGraph *g, const int *outside, Reconvergence *found)
{
    for (int b = 0; b < g->blocks; b++) {
        const int last = g->first[b + 1] - 1;
        if (flow_may_split(&g->f->instructions[last]) && outside[b] >= 0)
            found->rpc[last] = g->first[outside[b]];
    }
    memset(found->inner, 0, (size_t) g->f->instruction_count + 1);
}

void flow_refine(FlowGraph *g, Reconvergence *found)
{
    FlowLoops *loops = calloc(1, sizeof *loops);
    int *outside = malloc(((size_t) g->blocks + 1) * sizeof *outside); /* or -1 */
    int *meets = malloc(((size_t) g->blocks + 1) * sizeof *meets);
    const bool has_room = loops && outside && meets;
    bool well = has_room;

    for (int b = 0; well && b < g->blocks; b++)
        outside[b] = meets[b] = g->postdominator[b];
    if (well)
        find_loops(g, loops);
    for (int i = 0; well && i < loops->count; i++)
        well = find_meetings(g, &loops->loops[i], outside, meets, found);
    for (int b = 0; b < g->blocks && well; b++)
        found->after[g->first[b]] = meets[b] < 0 ? -1 : g->first[meets[b]];
    if (has_room && !well)
        restore(g, outside, found);
    for (int i = 0; loops && i < loops->count; i++)
        free(loops->loops[i].blocks);
    free(loops);
    free(outside);
    free(meets);
}
