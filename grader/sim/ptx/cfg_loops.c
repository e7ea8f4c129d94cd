/* cfg_loops.c - the places that lanes pass in a round of a loop.
 *
 * cfg_barriers.c says where lanes wait for each other, although others leave the loop or region.
 * To know whether a lane leaves, execution needs the next place that it passes from each block on
 * if it stays. Within a loop, only edges that stay in it count, and a round ends where the next one
 * begins: a lane that comes to a place in the next round has left it in this one.
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

/* The loop of all edges back to this header: from blocks that a search in depth leaves earlier. */
static bool make_loop(const FlowGraph *g, FlowLoop *loop, int header, const int *number, int *open)
{
    bool found = false, well = true;

    *loop = (FlowLoop){ .header = header, .blocks = calloc((size_t) g->blocks + 1, 1) };
    for (int at = g->before_at[header]; loop->blocks && well && at < g->before_at[header + 1]; at++)
        if (number[g->before[at]] >= 0 && number[g->before[at]] <= number[header]) {
            found = true;
            well = add_to_loop(g, loop, g->before[at], open);
        }
    for (int b = 0; loop->blocks && b < g->blocks; b++)
        loop->size += loop->blocks[b];
    if (loop->blocks && found && well)
        return true;
    free(loop->blocks);
    return false;
}

static int by_loop_size(const void *a, const void *b)
{
    return ((const FlowLoop *) a)->size - ((const FlowLoop *) b)->size;
}

static void find_loops(const FlowGraph *g, FlowLoops *loops, const int *number, int *open)
{
    for (int b = 0; b < g->blocks && loops->count < MOST_LOOPS; b++)
        loops->count += make_loop(g, &loops->loops[loops->count], b, number, open);
    qsort(loops->loops, (size_t) loops->count, sizeof *loops->loops, by_loop_size);
}

static bool is_in(const FlowGraph *g, const FlowLoop *loop, int block)
{
    return block >= 0 && block < g->blocks && loop->blocks[block];
}

/* ---- Places ---- */

/* By block; the end is g->blocks. */
typedef struct Places {
    int *meets; /* the next block that lanes pass which stay in the loop and the region */
    FlowNearer whole, round; /* of the whole graph; of a round of the loop in hand */
    FlowBarrier *barriers;
    const uint8_t **loop_of; /* the blocks of the smallest loop with it; NULL: none */
} Places;

static bool places_make(Places *p, int blocks)
{
    const size_t count = (size_t) blocks + 1;
    const bool has_room = flow_nearer_make(&p->whole, blocks);

    p->meets = malloc(count * sizeof *p->meets);
    p->barriers = malloc(count * sizeof *p->barriers);
    p->loop_of = calloc(count, sizeof *p->loop_of);
    return flow_nearer_make(&p->round, blocks) && has_room && p->meets && p->barriers && p->loop_of;
}

static void places_free(Places *p)
{
    flow_nearer_free(&p->whole);
    flow_nearer_free(&p->round);
    free(p->meets);
    free(p->barriers);
    free(p->loop_of);
}

static void find_smallest(const FlowGraph *g, const FlowLoops *loops, const uint8_t **loop_of)
{
    for (int i = loops->count - 1; i >= 0; i--)
        for (int b = 0; b < g->blocks; b++)
            if (loops->loops[i].blocks[b])
                loop_of[b] = loops->loops[i].blocks;
}

/* The next place that the lanes of a block pass that stay in the loop. */
static void find_meeting(const FlowGraph *g, const FlowLoop *loop, Places *p, int b)
{
    const int inside = p->round.place[b];
    const bool is_inside = inside >= 0 && inside < g->blocks;

    if (is_inside && (p->loop_of[b] == loop->blocks || !is_in(g, loop, p->meets[b])))
        p->meets[b] = inside;
    while (!is_inside && is_in(g, loop, p->meets[b]))
        p->meets[b] = p->whole.place[p->meets[b]];
}

static bool find_meetings(FlowGraph *g, const FlowLoop *loop, Places *p)
{
    g->loop = loop->blocks;
    g->header = loop->header;
    const bool well = flow_postdominators(g) && flow_find_nearer(g, &p->round);

    for (int b = 0; b < g->blocks && well; b++)
        if (loop->blocks[b])
            find_meeting(g, loop, p, b);
    g->loop = NULL;
    return well;
}

/* ---- Barriers ---- */

/* For a branch by which lanes begin another round. */
static void set_round(const FlowGraph *g, const Places *p, Reconvergence *found, int block)
{
    const int *number = p->whole.number;

    for (int at = g->after_at[block]; at < g->after_at[block + 1]; at++) {
        const int header = g->after[at];
        const uint8_t *loop = p->loop_of[header];
        int end = header;
        if (number[header] < number[block] || !loop || !loop[block])
            continue;
        for (int hops = 0; hops < g->blocks && end >= 0 && end < g->blocks && loop[end]; hops++)
            end = p->whole.place[end];
        if (end >= 0)
            found->round[g->first[block + 1] - 1] = (LoopRound){ g->first[header], g->first[end] };
    }
}

static void set_places(const FlowGraph *g, const Places *p, Reconvergence *found)
{
    for (int b = 0; b < g->blocks; b++) {
        const FlowBarrier barrier = p->barriers[b];
        const int last = g->first[b + 1] - 1;
        found->after[g->first[b]] = p->meets[b] < 0 ? -1 : g->first[p->meets[b]];
        if (barrier.place < 0 || !flow_may_split(&g->f->instructions[last]))
            continue;
        set_round(g, p, found, b);
        found->rpc[last] = g->first[barrier.place];
        found->inner[g->first[barrier.place]] |= barrier.may_leave;
    }
}

static bool find_all_meetings(FlowGraph *g, const FlowLoops *loops, Places *p)
{
    bool well = true;

    for (int b = 0; b < g->blocks; b++)
        p->meets[b] = p->whole.place[b];
    for (int i = 0; well && i < loops->count; i++)
        well = find_meetings(g, &loops->loops[i], p);
    return well;
}

void flow_refine(FlowGraph *g, Reconvergence *found)
{
    FlowLoops *loops = calloc(1, sizeof *loops);
    Places places;

    if (places_make(&places, g->blocks) && loops && flow_find_nearer(g, &places.whole)) {
        find_loops(g, loops, places.whole.number, places.meets);
        find_smallest(g, loops, places.loop_of);
        if (find_all_meetings(g, loops, &places) && flow_postdominators(g) &&
            flow_find_nearer(g, &places.whole) &&
            flow_find_barriers(g, &places.whole, places.loop_of, places.meets, places.barriers))
            set_places(g, &places, found);
    }
    for (int i = 0; loops && i < loops->count; i++)
        free(loops->loops[i].blocks);
    free(loops);
    places_free(&places);
}
