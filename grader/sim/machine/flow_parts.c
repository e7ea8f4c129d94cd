/* flow_parts.c - how often warps come in parts to a BSYNC of the machine code.
 *
 * A BSSY names the BSYNC at which the lanes meet again that a branch divides in between. Each part
 * executes the BSYNC by itself. Branches of the PTX that predicates replace, or that ptxas joins
 * with others, divide nothing.
 */
#include "sim/machine/flow_finder.h"

#include <stdlib.h>
#include <string.h>

/* ---- Where the lanes of each block meet ---- */

/* A search for the blocks before a BSYNC. */
typedef struct Search {
    const FlowFinder *finder;
    int meeting;  /* the BSYNC */
    bool *marked; /* by block */
    int *stack, depth;
} Search;

static void go_to(Search *search, int block)
{
    const MachineBlock *to = block >= 0 ? &search->finder->lowering->blocks[block] : NULL;

    if (!to || search->marked[block] ||
        (search->meeting >= to->first && search->meeting < to->first + to->count))
        return;
    search->marked[block] = true;
    search->stack[search->depth++] = block;
}

/* The targets of an indirect branch are between it and the BSYNC. */
static void go_anywhere(Search *search, int from)
{
    const MachineBlock *blocks = search->finder->lowering->blocks;

    for (int b = from + 1; b < search->finder->lowering->block_count; b++)
        if (blocks[b].is_reached && !blocks[b].in_callee && blocks[b].first < search->meeting &&
            flow_is_entered_unseen(search->finder, b))
            go_to(search, b);
}

/* Marks the blocks that can be reached from `block` without coming to the BSYNC. Returns their
 * number. */
static int mark_until(Search *search, int block)
{
    const Lowering *lowering = search->finder->lowering;
    int count = 0;

    memset(search->marked, 0, (size_t) lowering->block_count * sizeof *search->marked);
    for (go_to(search, block); search->depth; count++) {
        const int b = search->stack[--search->depth];
        go_to(search, lowering->blocks[b].next);
        go_to(search, lowering->blocks[b].taken);
        if (lowering->blocks[b].anywhere)
            go_anywhere(search, b);
    }
    return count;
}

/* Of the BSYNCs that enclose a block, the one with the fewest blocks before it is the nearest. */
static void find_nearest(Search *search, int *meetings, int *fewest)
{
    const Lowering *lowering = search->finder->lowering;

    for (int b = 0; b < lowering->block_count; b++)
        for (int i = 0; lowering->blocks[b].is_reached && i < lowering->blocks[b].count; i++) {
            const MachineInstruction *in =
                &lowering->code.instructions[lowering->blocks[b].first + i];
            if (flow_operation(in) != MACHINE_BSSY || in->target < 0)
                continue;
            search->meeting = in->target;
            const int count = mark_until(search, b);
            for (int k = 0; k < lowering->block_count; k++)
                if (search->marked[k] && (meetings[k] < 0 || count <= fewest[k])) {
                    meetings[k] = in->target;
                    fewest[k] = count;
                }
        }
}

bool flow_meetings(const FlowFinder *finder, int *meetings)
{
    const size_t blocks = (size_t) finder->lowering->block_count + 1;
    Search search = { .finder = finder,
                      .marked = calloc(blocks, sizeof *search.marked),
                      .stack = calloc(blocks, sizeof *search.stack) };
    int *fewest = calloc(blocks, sizeof *fewest);
    const bool fine = search.marked && search.stack && fewest;

    for (int b = 0; b < finder->lowering->block_count; b++)
        meetings[b] = -1;
    if (fine)
        find_nearest(&search, meetings, fewest);
    free(search.marked);
    free(search.stack);
    free(fewest);
    return fine;
}

/* ---- Parts ---- */

/* The branch of the PTX that decides who executes a line; NULL: unknown. ptxas may guard what is
 * between it and a jump, and the jump itself, which then divides warps in its place. */
static const LineCount *decides(const FlowFinder *finder, const LineCount *line)
{
    if (line->step->in->op != OP_bra || line->step->guard >= 0)
        return line;
    for (int i = 0; i < finder->counts.count; i++) {
        const LineCount *at = &finder->counts.lines[i];
        if (at->step && at->function == line->function && at->block == line->block - 1 &&
            at->step->in->op == OP_bra && at->step->guard >= 0)
            return at;
    }
    return NULL;
}

/* The parts that the branch at the end of a block adds, besides one per warp. */
static double parts_of(const FlowFinder *finder, int block)
{
    const MachineBlock *at = &finder->lowering->blocks[block];
    const MachineInstruction *in = &finder->lowering->code.instructions[at->first + at->count - 1];
    const LineCount *line = line_count_at(&finder->counts, in->line);
    const Tier *tier = &finder->tiers[block];

    if (!at->is_reached || at->taken < 0 || !flow_is_guarded(in))
        return 0;
    if (tier->warps > 0 && tier->splits >= 0)
        return tier->splits;
    line = line ? decides(finder, line) : NULL;
    if (!line || line->reached <= 0)
        return 0;
    const double share = finder->flows[block].threads / line->reached;
    return (double) line->divergent * (share < 1 ? share : 1);
}

/* An indirect branch divides a warp among the blocks that only such branches reach. All that have
 * the same BSYNC are added up: by how many parts come to these blocks, less those that branch. */
static double parts_of_switches(const FlowFinder *finder, const int *meetings, int bsync)
{
    double parts = 0;
    bool any = false;

    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineBlock *at = &finder->lowering->blocks[b];
        if (meetings[b] != bsync || !at->is_reached)
            continue;
        any |= at->anywhere;
        parts -= at->anywhere ? finder->flows[b].warps : 0;
        parts += flow_is_entered_unseen(finder, b) ? finder->flows[b].warps : 0;
    }
    return any && parts > 0 ? parts : 0;
}

/* An indirect call divides a warp by function; its step was counted once per function. */
static double parts_of_call(const FlowFinder *finder, int block)
{
    const MachineBlock *at = &finder->lowering->blocks[block];
    const LineCount *line = line_count_at(
        &finder->counts, finder->lowering->code.instructions[at->first + at->count - 1].line);

    if (!at->is_reached || !at->calls_any || !line || line->step->in->op != OP_call)
        return 0;
    const double parts = line->warps - finder->flows[block].warps;
    return parts > 0 ? parts : 0;
}

static int edges_into(const FlowFinder *finder, int block)
{
    int count = 0;

    for (int e = 0; e < finder->edge_count; e++)
        count += finder->edges[e].to == block;
    return count;
}

/* The parts of warps that go from a block to another one: of those that execute the block, all but
 * the ones whose lanes all go the other way. -1: unknown. */
static double parts_on(const FlowFinder *finder, int from, int to)
{
    const MachineBlock *at = &finder->lowering->blocks[from];
    const MachineInstruction *in = &finder->lowering->code.instructions[at->first + at->count - 1];
    const LineCount *line = line_count_at(&finder->counts, in->line);
    const int other = at->taken == to ? at->next : at->taken;

    if (at->taken < 0 || at->next < 0)
        return at->anywhere || at->callee >= 0 || at->calls_any ? -1 : finder->flows[from].warps;
    line = line && flow_is_guarded(in) ? decides(finder, line) : NULL;
    if (!line || line->step->in->op != OP_bra || edges_into(finder, other) != 1)
        return -1;
    return finder->flows[from].warps - finder->flows[other].warps + (double) line->divergent;
}

double flow_parts_before_sync(const FlowFinder *finder, int block)
{
    double parts = 0;

    for (int e = 0; e < finder->edge_count; e++) {
        if (finder->edges[e].to != block)
            continue;
        const double more = parts_on(finder, finder->edges[e].from, block);
        if (more < 0)
            return 0;
        parts += more;
    }
    parts -= finder->flows[block].warps;
    return parts > 0 ? parts : 0;
}

double flow_switch_parts(const FlowFinder *finder, const int *meetings, int block)
{
    double threads = 0;

    if (finder->lowering->blocks[block].calls_any)
        return parts_of_call(finder, block);
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (meetings[b] == meetings[block] && finder->lowering->blocks[b].anywhere)
            threads += finder->flows[b].threads;
    return threads > 0 ? parts_of_switches(finder, meetings, meetings[block]) *
                             finder->flows[block].threads / threads
                       : 0;
}

double flow_parts(const FlowFinder *finder, const int *meetings, int bsync)
{
    double parts = parts_of_switches(finder, meetings, bsync);

    for (int b = 0; b < finder->lowering->block_count; b++)
        if (meetings[b] == bsync)
            parts += parts_of(finder, b) + parts_of_call(finder, b);
    return parts;
}
