/* cfg_regions.c - the next block that lanes pass which stay in a region, although others jump out
 * of it early.
 *
 * A region is the code between a branch and its immediate post-dominator, where all its lanes meet
 * (M). Some lanes may jump there early: by a goto, a continue, a break, the return of an inlined
 * function. The others stay. They are found by post-dominators again: of all edges to M, only the
 * last one counts, that of the block which ptxas places last. It places blocks in reverse postorder
 * (of a branch's two ways, the one not taken comes first).
 */
#include "sim/ptx/flow_graph.h"

#include <stdlib.h>
#include <string.h>

/* Sweeps over the graph; loops within regions need a second one. Those that need more keep what was
 * found. */
enum { MOST_SWEEPS = 4 };

typedef struct Regions {
    FlowGraph *g;
    FlowNearer *nearer;
    int *next; /* work space: edges already followed */
    int *path; /* work space: the chain of post-dominators from a block to the region's end */
    int *at;   /* index in path of each node, if path has it */
} Regions;

static bool regions_make(Regions *r, FlowGraph *g, FlowNearer *nearer)
{
    const size_t bytes = ((size_t) g->blocks + 2) * sizeof(int);

    *r = (Regions){ .g = g,
                    .nearer = nearer,
                    .next = malloc(bytes),
                    .path = malloc(bytes),
                    .at = calloc(1, bytes) };
    return r->next && r->path && r->at;
}

static void regions_free(Regions *r)
{
    free(r->next);
    free(r->path);
    free(r->at);
}

/* ---- The order in which ptxas places blocks ---- */

/* Numbers the blocks in postorder, along a branch before the other way. */
static void number_blocks(Regions *r)
{
    const FlowGraph *g = r->g;
    int depth = 0, count = 0;

    for (int b = 0; b <= g->blocks; b++) {
        r->nearer->number[b] = -1;
        r->next[b] = g->after_at[b];
    }
    r->path[depth++] = g->loop ? g->header : 0;
    r->nearer->number[r->path[0]] = 0;
    while (depth) {
        const int block = r->path[depth - 1];
        if (r->next[block] == g->after_at[block + 1]) {
            r->nearer->number[block] = count++;
            depth--;
            continue;
        }
        const int to = g->after[r->next[block]++];
        if (r->nearer->number[to] < 0) {
            r->nearer->number[to] = 0;
            r->path[depth++] = to;
        }
    }
}

static void find_last(Regions *r)
{
    const FlowGraph *g = r->g;

    for (int node = 0; node <= g->blocks; node++) {
        int last = -1;
        for (int at = g->before_at[node]; at < g->before_at[node + 1]; at++) {
            const int from = g->before[at];
            if (g->postdominator[from] == node && r->nearer->number[from] >= 0 &&
                (last < 0 || r->nearer->number[from] < r->nearer->number[last]))
                last = from;
        }
        r->nearer->last[node] = last;
    }
}

/* ---- Post-dominators within regions ---- */

int flow_step(const FlowGraph *g, const FlowNearer *nearer, int node, int end)
{
    const int next = g->postdominator[node];

    return next == end ? nearer->place[node] : next;
}

static bool is_on_path(const Regions *r, int node, int length)
{
    return r->at[node] < length && r->path[r->at[node]] == node;
}

enum { LEAVES = -1, RETURNS = -2 };

/* Sets path to the chain from this node to the region's end. Returns its length, or LEAVES;
 * RETURNS: it goes through `block`. */
static int make_path(Regions *r, int block, int from, int end)
{
    int length = 0;

    for (int node = from; node != end; node = flow_step(r->g, r->nearer, node, end)) {
        if (node == block)
            return RETURNS;
        if (node < 0 || length > r->g->blocks)
            return LEAVES;
        r->path[length] = node;
        r->at[node] = length++;
    }
    r->path[length] = end;
    r->at[end] = length++;
    r->g->region_work += length;
    return length;
}

/* The first node of the path that the chain from this node reaches, as an index; or LEAVES or
 * RETURNS. */
static int meet_path(Regions *r, int block, int from, int end, int length)
{
    for (int node = from, hops = 0; node >= 0 && hops <= r->g->blocks;
         node = flow_step(r->g, r->nearer, node, end), hops++) {
        r->g->region_work++;
        if (node == block)
            return RETURNS;
        if (is_on_path(r, node, length))
            return r->at[node];
    }
    return LEAVES;
}

/* Where lanes that go this way meet those of the ways before, of which the first made the path (if
 * it has a length): an index, LEAVES or RETURNS. */
static int meet_way(Regions *r, int block, int to, int *length)
{
    const int end = r->g->postdominator[block];

    if (to == end && r->nearer->last[end] != block)
        return LEAVES;
    if (*length > 0)
        return meet_path(r, block, to, end, *length);
    const int made = make_path(r, block, to, end);
    *length = made > 0 ? made : 0;
    return made > 0 ? 0 : made;
}

/* Returns whether this changed the block's place. */
static bool find_place(Regions *r, int block)
{
    const FlowGraph *g = r->g;
    const int before = r->nearer->place[block], first = g->after_at[block];
    int length = 0, meets = -1;
    bool splits = false, all_stay = true;

    for (int i = first; i < g->after_at[block + 1]; i++) {
        const int at = meet_way(r, block, g->after[i], &length);
        splits |= g->after[i] != g->after[first];
        all_stay &= at != LEAVES;
        meets = at > meets ? at : meets;
    }
    r->nearer->place[block] = meets < 0 ? -1 : r->path[meets];
    r->nearer->splits[block] = splits && all_stay;
    return r->nearer->place[block] != before;
}

/* Finds the place of each block. */
static void find_places(Regions *r)
{
    const FlowGraph *g = r->g;
    bool changed = true;

    for (int sweep = 0; sweep < MOST_SWEEPS && changed; sweep++) {
        changed = false;
        for (int i = g->live - 2; i >= 0 && g->region_work < FLOW_MOST_WORK; i--)
            changed |= find_place(r, g->order[i]);
    }
}

bool flow_nearer_make(FlowNearer *nearer, int blocks)
{
    const size_t count = (size_t) blocks + 1, bytes = count * sizeof(int);

    *nearer = (FlowNearer){ .place = malloc(bytes),
                            .splits = malloc(count),
                            .number = malloc(bytes),
                            .last = malloc(bytes) };
    return nearer->place && nearer->splits && nearer->number && nearer->last;
}

void flow_nearer_free(FlowNearer *nearer)
{
    free(nearer->place);
    free(nearer->splits);
    free(nearer->number);
    free(nearer->last);
}

bool flow_find_nearer(FlowGraph *g, FlowNearer *nearer)
{
    Regions r;
    const bool has_room = regions_make(&r, g, nearer);

    for (int b = 0; b <= g->blocks; b++)
        nearer->place[b] = -1;
    memset(nearer->splits, 0, (size_t) g->blocks + 1);
    if (has_room) {
        number_blocks(&r);
        find_last(&r);
        find_places(&r);
    }
    for (int b = 0; b < g->blocks; b++)
        if (nearer->place[b] < 0 || g->region_work >= FLOW_MOST_WORK)
            nearer->place[b] = g->postdominator[b];
    regions_free(&r);
    return has_room;
}
