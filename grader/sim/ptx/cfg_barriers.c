/* cfg_barriers.c - where lanes reconverge by convergence barriers, as ptxas places them.
 *
 * Lanes wait for each other at a BSYNC, whose BSSY is before the branch that divides them; lanes
 * leave the barrier by BREAK, or by an exit. A branch has at most two barriers:
 *
 * 1. at its immediate post-dominator M, which all its lanes pass that do not exit (cfg.c);
 * 2. if some lanes jump to M early, at the next place that the others pass (cfg_regions.c). So in
 *    if (a) { x(); if (b) goto done; y(); } z(); done: lanes reconverge before z() and at done. In
 *    a loop with a break, M is the place after the loop, so they do so in each round. There is no
 *    third one: if a loop contains both a break and a continue, lanes reconverge at the end of a
 *    round only.
 *
 * Both only if the branch dominates the place: other lanes could come to the BSYNC otherwise,
 * without the BSSY. Lanes of a branch without a barrier meet at that of an enclosing branch.
 *
 * The second barrier is not placed
 * - for little code: at most 10 instructions without an access to memory or a loop. If there is so
 *   little up to the next place which lanes pass that stay, that one counts;
 * - if lanes jump from a loop within the region, which may be executed often, as in
 *   for (...) { if (b) goto done; } z(); done: unless M is outside a loop that contains the branch.
 */
#include "sim/ptx/flow_graph.h"

#include <stdlib.h>
#include <string.h>

enum { LITTLE_CODE = 10 }; /* instructions */

typedef struct Barriers {
    FlowGraph *g;
    const FlowNearer *nearer;
    const uint8_t *const *loop_of; /* for each block: the blocks of the smallest loop with it */
    const int *meets;              /* the next place that lanes pass which stay in a loop's round */
    int *dominator;                /* the immediate one of each block; -1: unknown */
    int *order;                    /* blocks by number */
    int *open;                     /* work space */
    int *seen;                     /* for each block: the last walk that came to it */
    int *owner; /* for each node: the first branch that dominates it and has a barrier there;
                 * -1: none */
    int walks;
} Barriers;

static bool barriers_make(Barriers *p)
{
    const size_t count = (size_t) p->g->blocks + 2, bytes = count * sizeof(int);

    p->dominator = malloc(bytes);
    p->order = malloc(bytes);
    p->open = malloc(bytes);
    p->seen = calloc(1, bytes);
    p->owner = malloc(bytes);
    return p->dominator && p->order && p->open && p->seen && p->owner;
}

static void barriers_free(Barriers *p)
{
    free(p->dominator);
    free(p->order);
    free(p->open);
    free(p->seen);
    free(p->owner);
}

/* ---- Dominators ---- */

static int common_dominator(const Barriers *p, int a, int b)
{
    const int *number = p->nearer->number;

    for (; a != b; p->g->region_work++)
        if (number[a] < number[b])
            a = p->dominator[a];
        else
            b = p->dominator[b];
    return a;
}

static bool find_dominator(Barriers *p, int block)
{
    const FlowGraph *g = p->g;
    int found = -1;

    for (int at = g->before_at[block]; at < g->before_at[block + 1]; at++)
        if (p->dominator[g->before[at]] >= 0)
            found = found < 0 ? g->before[at] : common_dominator(p, found, g->before[at]);
    const bool changed = found != p->dominator[block];
    p->dominator[block] = found;
    return changed;
}

/* As post-dominators (cfg.c), in the forward direction. */
static void find_dominators(Barriers *p)
{
    const FlowGraph *g = p->g;
    int count = 0;
    bool changed = true;

    for (int b = 0; b <= g->blocks; b++) {
        p->dominator[b] = -1;
        if (p->nearer->number[b] >= 0 && ++count)
            p->order[p->nearer->number[b]] = b;
    }
    p->dominator[0] = 0;
    while (changed && g->region_work < FLOW_MOST_WORK) {
        changed = false;
        for (int i = count - 2; i >= 0 && g->region_work < FLOW_MOST_WORK; i--)
            changed |= find_dominator(p, p->order[i]);
    }
}

static bool dominates(const Barriers *p, int block, int then)
{
    while (then > 0 && p->nearer->number[then] < p->nearer->number[block]) {
        then = p->dominator[then];
        p->g->region_work++;
    }
    return then == block;
}

/* ---- Whether a second barrier is worth it ---- */

/* A walk over the blocks from one block on, up to the next place or the region's end. */
typedef struct Walk {
    int branch, place, end;
    int depth;
    int instructions;
    bool is_much;        /* there is an access to memory, or a loop */
    bool is_left_inside; /* lanes leave the region early from a loop without the branch */
} Walk;

static bool is_much(const Instruction *in)
{
    const OpClass kind = class_of(in);

    return kind == CLASS_LOAD || kind == CLASS_STORE || kind == CLASS_ATOMIC ||
           kind == CLASS_BARRIER || in->op == OP_call || in->op == OP_div || in->op == OP_rem;
}

/* ptxas has no instruction for most moves, and none for a jump to the next block. */
static bool is_free(const Instruction *in)
{
    return in->op == OP_mov || (in->op == OP_bra && in->guard < 0);
}

static void weigh(Barriers *p, Walk *walk, int block)
{
    FlowGraph *g = p->g;

    for (int i = g->first[block]; i < g->first[block + 1]; i++) {
        walk->instructions += !is_free(&g->f->instructions[i]);
        walk->is_much |= is_much(&g->f->instructions[i]);
    }
    g->region_work += g->first[block + 1] - g->first[block];
}

static void walk_edge(Barriers *p, Walk *walk, int from, int to)
{
    const uint8_t *loop = p->loop_of[from];

    if (to == walk->end && from != p->nearer->last[to])
        walk->is_left_inside |= loop && !loop[walk->branch];
    if (to == walk->end || to == walk->place)
        return;
    walk->is_much |= p->nearer->number[to] >= p->nearer->number[from];
    if (p->seen[to] == p->walks)
        return;
    p->seen[to] = p->walks;
    p->open[walk->depth++] = to;
}

static void walk_from(Barriers *p, Walk *walk, int block)
{
    const FlowGraph *g = p->g;

    p->seen[block] = ++p->walks;
    p->open[walk->depth++] = block;
    while (walk->depth && g->region_work < FLOW_MOST_WORK) {
        const int from = p->open[--walk->depth];
        weigh(p, walk, from);
        for (int at = g->after_at[from]; at < g->after_at[from + 1]; at++)
            walk_edge(p, walk, from, g->after[at]);
    }
}

/* Whether ptxas places a barrier although lanes leave it before `place`. */
static bool may_leave(Barriers *p, int block, int place, int end)
{
    const uint8_t *loop = p->loop_of[block];
    Walk walk = { .branch = block, .place = place, .end = end };

    if (loop && (end == p->g->blocks || !loop[end]))
        return true;
    walk_from(p, &walk, block);
    return !walk.is_left_inside;
}

static bool is_worth(Barriers *p, int block, int place, int next, int end)
{
    Walk walk = { .branch = block, .place = next, .end = end };

    walk_from(p, &walk, place);
    return walk.is_much || walk.instructions > LITTLE_CODE;
}

/* The second barrier of a block's branch; -1: none. */
static int second_barrier(Barriers *p, int block)
{
    const int end = p->g->postdominator[block];
    int place = p->nearer->place[block];

    if (!p->nearer->splits[block] || !may_leave(p, block, place, end))
        return -1;
    while (place >= 0 && place != end) {
        const int next = flow_step(p->g, p->nearer, place, end);
        if (is_worth(p, block, place, next, end))
            return place;
        place = next;
    }
    return -1;
}

/* ---- Barriers ---- */

static bool may_split(const FlowGraph *g, int block)
{
    return flow_may_split(&g->f->instructions[g->first[block + 1] - 1]);
}

static bool has_barriers(const FlowGraph *g, int block)
{
    return g->postdominator[block] >= 0 && may_split(g, block);
}

static bool is_owned(const Barriers *p, int block, int place)
{
    return p->owner[place] >= 0 && dominates(p, p->owner[place], block);
}

static void own(Barriers *p, int block, int place)
{
    if (place < 0 || p->dominator[place] < 0 || !dominates(p, block, place))
        return;
    if (p->owner[place] < 0 || p->nearer->number[block] > p->nearer->number[p->owner[place]])
        p->owner[place] = block;
}

static void own_barriers(Barriers *p)
{
    const FlowGraph *g = p->g;

    for (int b = 0; b <= g->blocks; b++)
        p->owner[b] = -1;
    for (int b = 0; b < g->blocks && g->region_work < FLOW_MOST_WORK; b++)
        if (has_barriers(g, b)) {
            own(p, b, g->postdominator[b]);
            own(p, b, second_barrier(p, b));
        }
}

static bool passes(const Barriers *p, int block, int place)
{
    const int most = p->g->blocks;

    for (int hops = 0; block >= 0 && block < most && block != place && hops < most; hops++)
        block = p->meets[block];
    return block == place;
}

/* Lanes that go back to a loop's header meet before it, in a block that ptxas adds. */
static bool is_back(const Barriers *p, int block, int place)
{
    return p->nearer->number[place] >= p->nearer->number[block];
}

/* Whether the lanes of a branch pass this place by all of its ways, in this round of a loop. */
static bool all_pass(const Barriers *p, int block, int place)
{
    const FlowGraph *g = p->g;

    for (int at = g->after_at[block]; at < g->after_at[block + 1]; at++) {
        const int to = g->after[at];
        const bool is_later = is_back(p, block, to) && p->loop_of[to] && p->loop_of[to][place];
        if (to != place && (is_later || !passes(p, to, place)))
            return false;
    }
    return true;
}

/* Whether lanes of a branch wait at this place. */
static bool is_met(const Barriers *p, int block, FlowBarrier barrier)
{
    return (is_owned(p, block, barrier.place) || is_back(p, block, barrier.place)) &&
           (!barrier.may_leave || all_pass(p, block, barrier.place));
}

static bool passes_in_round(const Barriers *p, int block, int place)
{
    while (block >= 0 && block < p->g->blocks && block != place) {
        const int next = p->meets[block];
        if (next >= 0 && next < p->g->blocks && is_back(p, block, next))
            return false;
        block = next;
    }
    return block == place;
}

static bool all_stay(const Barriers *p, int block, const uint8_t *loop)
{
    const FlowGraph *g = p->g;

    for (int at = g->after_at[block]; at < g->after_at[block + 1]; at++)
        if (!loop[g->after[at]])
            return false;
    return true;
}

/* Whether all ways lead to this place before the next round of the loop begins. */
static bool all_pass_in_round(const Barriers *p, int block, int place)
{
    const FlowGraph *g = p->g;

    for (int at = g->after_at[block]; at < g->after_at[block + 1]; at++) {
        const int to = g->after[at];
        if (is_back(p, block, to) || !passes_in_round(p, to, place))
            return false;
    }
    return true;
}

/* Where all lanes of a branch, all of whose ways stay in its loop, meet in this round, if some pass
 * its immediate post-dominator in a later round only, or an endless loop has none: then lanes do
 * not wait there. -1: they do, or meet nowhere. In for (;;) { if (a) { x(); if (b) break; } y(); }
 * all pass x() before they leave, but they meet before y(). */
static int meeting_in_round(const Barriers *p, int block)
{
    const FlowGraph *g = p->g;
    const uint8_t *loop = p->loop_of[block];
    const int end = g->postdominator[block];
    int place = p->meets[block];

    if (!loop || !all_stay(p, block, loop) ||
        (end >= 0 && (end >= g->blocks || !loop[end] || all_pass_in_round(p, block, end))))
        return -1;
    for (int hops = 0; hops < g->blocks && place >= 0 && place < g->blocks; hops++) {
        if (!loop[place] || !dominates(p, block, place))
            return -1;
        if (all_pass_in_round(p, block, place))
            return place;
        place = p->meets[place];
    }
    return -1;
}

/* The first barrier on the way: of the branch itself, or of one that encloses it. */
static FlowBarrier find_barrier(const Barriers *p, int block)
{
    const FlowGraph *g = p->g;
    const int in_round = meeting_in_round(p, block);
    int all = g->postdominator[block]; /* the next place that all lanes pass */
    int place = p->nearer->splits[block] ? p->nearer->place[block] : all;

    if (in_round >= 0)
        return (FlowBarrier){ in_round, true };
    if (all < 0)
        return (FlowBarrier){ -1, false };
    for (int hops = 0; hops < g->blocks && place >= 0 && place < g->blocks; hops++) {
        const FlowBarrier barrier = { place, place != all };
        if (is_met(p, block, barrier))
            return barrier;
        if (place == all)
            all = g->postdominator[all];
        place = p->nearer->place[place];
    }
    return (FlowBarrier){ g->postdominator[block], false };
}

bool flow_find_barriers(FlowGraph *g, const FlowNearer *nearer, const uint8_t *const *loop_of,
                        const int *meets, FlowBarrier *barriers)
{
    Barriers p = { .g = g, .nearer = nearer, .loop_of = loop_of, .meets = meets };
    const bool has_room = barriers_make(&p);

    if (has_room) {
        find_dominators(&p);
        own_barriers(&p);
    }
    for (int b = 0; b < g->blocks && has_room; b++) {
        barriers[b] = (FlowBarrier){ g->postdominator[b], false };
        if (may_split(g, b) && nearer->number[b] >= 0 && g->region_work < FLOW_MOST_WORK)
            barriers[b] = find_barrier(&p, b);
    }
    barriers_free(&p);
    return has_room && g->region_work < FLOW_MOST_WORK;
}
