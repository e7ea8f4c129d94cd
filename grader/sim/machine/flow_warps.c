/* flow_warps.c - how many warps execute each block of the machine code, when its threads are known.
 */
#include "sim/machine/flow_finder.h"

#include <math.h>
#include <stdlib.h>

enum { UNKNOWN = -1 };

/* A line that is off by more, as a share of its threads, says nothing about its blocks: ptxas has
 * moved its instructions elsewhere. */
#define MOST_OFF 0.5
/* Blocks that share at least this part of their threads have the same. */
#define SAME 0.99

/* ---- From the block's own lines ---- */

/* How much a line says about the threads per warp of the block of its copies. A line that does not
 * fit counts little. One without a row in the fit counts only where no other does, if the block
 * runs about as often. */
static double weight_of(const FlowFinder *finder, const Copies *at, const LineCount *line,
                        const double *firmness)
{
    const double threads = finder->flows[at->block].threads;
    double off = fabs(line->reached - threads) / fmax(1, fmax(line->reached, threads));

    if (at->row < 0)
        return off < 0.2 ? 1e-9 / ((off + 0.01) * (off + 0.01)) : 0;
    off = fabs(fit_residual(&finder->fit, at->row)) / finder->fit.rows[at->row].scale;
    return off > MOST_OFF ? 0 : fabs(firmness[at->row]) / ((off + 0.01) * (off + 0.01));
}

/* All instructions of a subroutine that ptxas adds have the line of a ret. An indirect call is
 * counted once per target. */
static bool misleads(const Step *step)
{
    return step->in->op == OP_ret || (step->in->op == OP_call && step->jump.target < 0);
}

/* How often a block counts in a row of the fit. */
static double factor_in(const FlowFinder *finder, const FitRow *row, int block)
{
    for (int i = row->first; i < row->first + row->count; i++)
        if (finder->edges[finder->fit.terms[i].unknown].from == block)
            return finder->fit.terms[i].factor;
    return 0;
}

/* Warps per thread of a line, in the blocks whose warps are not limited: what those leave over. */
static double warps_per_thread(const FlowFinder *finder, const Copies *at, const LineCount *line)
{
    double threads = line->reached, warps = line->warps;

    for (int b = 0; at->row >= 0 && b < finder->lowering->block_count; b++) {
        const double times =
            finder->limited[b] ? factor_in(finder, &finder->fit.rows[at->row], b) : 0;
        threads -= times * finder->flows[b].threads;
        warps -= times * finder->flows[b].warps;
    }
    if (threads < 0.05 * line->reached)
        return line->warps / line->reached;
    return fmin(1, fmax(1.0 / LANES, warps / threads));
}

static const MachineInstruction *last_of(const FlowFinder *finder, int block)
{
    const MachineBlock *at = &finder->lowering->blocks[block];

    return &finder->lowering->code.instructions[at->first + at->count - 1];
}

/* Sums over what is known about a block's threads per warp. */
typedef struct Evidence {
    double weights, warps_per_thread;
} Evidence;

static void add_evidence(Evidence *to, double weight, double warps_per_thread)
{
    to->weights += weight;
    to->warps_per_thread += weight * warps_per_thread;
}

/* A branch tells how many warps come to the end of its block: little, but sometimes all that is
 * known, where a branch chooses a lane that only evaluates the next condition. */
static void take_from_branch(const FlowFinder *finder, int block, Evidence *to)
{
    const Copies branch = { .block = block, .row = -1 };
    const LineCount *line = line_count_at(&finder->counts, last_of(finder, block)->line);

    if (line && line->reached > 0 && line->step->in->op == OP_bra)
        add_evidence(to, weight_of(finder, &branch, line, NULL), line->warps / line->reached);
}

static void take_from_lines(FlowFinder *finder, const double *firmness)
{
    const Lowering *lowering = finder->lowering;
    Evidence *evidence = calloc((size_t) lowering->block_count + 1, sizeof *evidence);

    for (int i = 0; evidence && i < finder->copies_count; i++) {
        const Copies *at = &finder->copies[i];
        const LineCount *line = line_count_at(&finder->counts, at->line);
        if (line->reached > 0 && line->step->guard < 0 && !misleads(line->step))
            add_evidence(&evidence[at->block], weight_of(finder, at, line, firmness),
                         warps_per_thread(finder, at, line));
    }
    for (int b = 0; evidence && b < lowering->block_count; b++) {
        take_from_branch(finder, b, &evidence[b]);
        if (!finder->limited[b])
            finder->flows[b].warps =
                evidence[b].weights > 0
                    ? finder->flows[b].threads * evidence[b].warps_per_thread / evidence[b].weights
                    : UNKNOWN;
    }
    free(evidence);
}

/* The rounds of unrolled loops are known by warp, as are paths. */
static void take_from_loops(FlowFinder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (!flow_path_warps(finder, b) && finder->tiers[b].warps > 0)
            finder->flows[b].warps = finder->flows[b].threads * finder->tiers[b].warps;
}

/* ---- From other blocks ---- */

static bool is_known(const BlockFlow *flow)
{
    return flow->warps >= 0 && flow->threads > 0;
}

static bool has_instruction(const MachineBlock *block, int i)
{
    return i >= block->first && i < block->first + block->count;
}

/* The block whose BSSY names a BSYNC of this block, and that most threads execute; NULL: none. */
static const BlockFlow *divides_before(const FlowFinder *finder, const MachineBlock *block)
{
    const Lowering *lowering = finder->lowering;
    const BlockFlow *best = NULL;

    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *from = &lowering->blocks[b];
        for (int i = from->first; i < from->first + from->count; i++) {
            const MachineInstruction *in = &lowering->code.instructions[i];
            if (flow_operation(in) == MACHINE_BSSY && has_instruction(block, in->target) &&
                is_known(&finder->flows[b]) && (!best || finder->flows[b].threads > best->threads))
                best = &finder->flows[b];
        }
    }
    return best;
}

/* The block that leads to this one most often; NULL: none. */
static const BlockFlow *leads_to(const FlowFinder *finder, int block)
{
    const BlockFlow *best = NULL;
    double most = 0;

    for (int e = 0; e < finder->edge_count; e++) {
        const BlockFlow *from = &finder->flows[finder->edges[e].from];
        if (finder->edges[e].to == block && finder->fit.x[e] > most && is_known(from)) {
            most = finder->fit.x[e];
            best = from;
        }
    }
    return best;
}

/* Lanes that divide after a BSSY and meet at its BSYNC are in the same warps at both. */
static void take_from_divisions(FlowFinder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        BlockFlow *flow = &finder->flows[b];
        const BlockFlow *from = divides_before(finder, &finder->lowering->blocks[b]);
        if (from && from != flow && fabs(flow->threads - from->threads) < 0.001 * from->threads)
            flow->warps = from->warps;
    }
}

/* The warps that come to a block from others; UNKNOWN: not all are known. */
static double warps_to(const FlowFinder *finder, int block)
{
    double warps = 0;
    bool any = false;

    for (int e = 0; e < finder->edge_count; e++) {
        const BlockFlow *from = &finder->flows[finder->edges[e].from];
        if (finder->edges[e].to != block || finder->fit.x[e] < 0.5)
            continue;
        if (!is_known(from))
            return UNKNOWN;
        warps += fmin(from->warps, finder->fit.x[e]);
        any = true;
    }
    return any ? warps : UNKNOWN;
}

/* No block is executed more often than warps come to it. Of a line with copies before a loop and in
 * it, the first ones run with more lanes than the others. */
static bool limit_warps(FlowFinder *finder)
{
    bool any = false;

    for (int b = 1; b < finder->lowering->block_count; b++) {
        BlockFlow *flow = &finder->flows[b];
        const double most = warps_to(finder, b);
        if (most < 0 || flow->warps <= 1.02 * most)
            continue;
        flow->warps = most;
        any = finder->limited[b] = true;
    }
    return any;
}

/* A subroutine runs with the lanes of its callers. Returns false if `block` is not its beginning.
 */
static bool take_from_callers(FlowFinder *finder, int block)
{
    const Lowering *lowering = finder->lowering;
    double threads = 0, warps = 0;

    for (int b = 0; b < lowering->block_count; b++)
        if (lowering->blocks[b].callee == block && is_known(&finder->flows[b])) {
            threads += finder->flows[b].threads;
            warps += finder->flows[b].warps;
        }
    if (threads > 0)
        finder->flows[block].warps = finder->flows[block].threads * warps / threads;
    return threads > 0;
}

/* The block to which all threads of this one go, and no others; NULL: none. */
static const BlockFlow *same_behind(const FlowFinder *finder, int block)
{
    const BlockFlow *flow = &finder->flows[block];

    for (int e = finder->first_edge[block]; e < finder->first_edge[block + 1]; e++) {
        const int to = finder->edges[e].to;
        if (to >= 0 && to != block && is_known(&finder->flows[to]) &&
            finder->fit.x[e] > SAME * finder->flows[to].threads &&
            finder->fit.x[e] > SAME * flow->threads)
            return &finder->flows[to];
    }
    return NULL;
}

/* A block without lines of its own has the threads per warp of another one: of that to which it
 * leads alone, or at a BSYNC, of the block in which its lanes were last together. */
static void take_from_blocks(FlowFinder *finder)
{
    const Lowering *lowering = finder->lowering;

    for (int round = 0; round < 4; round++)
        for (int b = 0; b < lowering->block_count; b++) {
            BlockFlow *flow = &finder->flows[b];
            if (flow->warps >= 0 || take_from_callers(finder, b))
                continue;
            const BlockFlow *from = same_behind(finder, b);
            if (!from && round)
                from = divides_before(finder, &lowering->blocks[b]);
            if (!from && round)
                from = leads_to(finder, b);
            if (from)
                flow->warps = flow->threads * from->warps / from->threads;
        }
}

/* The parts of warps that leave the loop at whose end is block `from`; 0: unknown, or it ends no
 * loop.
 */
static double parts_leaving(const FlowFinder *finder, int from, double threads)
{
    const LineCount *line = line_count_at(&finder->counts, last_of(finder, from)->line);

    if (finder->lowering->blocks[from].taken < 0 || finder->lowering->blocks[from].taken > from)
        return 0;
    if (finder->tiers[from].parts > 0)
        return finder->tiers[from].parts;
    if (finder->tiers[from].warps > 0 || !line || line->step->in->op != OP_bra)
        return 0;
    return threads / LANES + (double) line->divergent;
}

/* Where a kernel ends behind a loop, ptxas puts no BSYNC: the lanes that leave the loop together
 * end by themselves. */
static void split_at_end(FlowFinder *finder, int edge)
{
    const Lowering *lowering = finder->lowering;
    const int from = finder->edges[edge].from, to = finder->edges[edge].to;
    const MachineBlock *end = to < 0 ? NULL : &lowering->blocks[to];
    BlockFlow *flow = &finder->flows[to < 0 ? 0 : to];

    if (!end || to == from || !end->leaves || end->next >= 0 ||
        finder->fit.x[edge] < 0.99 * flow->threads)
        return;
    for (int i = end->first; i < end->first + end->count; i++)
        if (flow_operation(&lowering->code.instructions[i]) == MACHINE_BSYNC)
            return;
    const double parts = parts_leaving(finder, from, flow->threads);
    flow->warps = parts > 0 ? fmax(parts, flow->warps) : flow->warps;
}

/* At least so many parts of warps come by an edge: as often as its branch divided a warp, and those
 * with all lanes. */
static double parts_by(const FlowFinder *finder, int edge)
{
    const int from = finder->edges[edge].from;
    const MachineInstruction *in = last_of(finder, from);
    const LineCount *line = line_count_at(&finder->counts, in->line);
    const double threads = finder->fit.x[edge];

    if (!flow_is_guarded(in) && finder->lowering->blocks[from].callee < 0 &&
        threads > SAME * finder->flows[from].threads)
        return finder->flows[from].warps;
    if (flow_operation(in) != MACHINE_BRA || !line || line->step->in->op != OP_bra ||
        flow_branches_of(finder, in->line) != 1 || threads < 0.5)
        return threads / LANES;
    return threads / LANES + (double) line->divergent;
}

/* In the PTX, lanes that leave a loop to the same place wait for each other. In machine code they
 * meet at a BSYNC; blocks before it are executed by each part that comes there. */
static void split_before_meeting(FlowFinder *finder, int block)
{
    BlockFlow *flow = &finder->flows[block];
    double parts = 0, whole = 0;

    if (flow_begins_with_meeting(finder->lowering, block))
        return;
    for (int e = 0; e < finder->edge_count; e++)
        if (finder->edges[e].to == block) {
            parts += parts_by(finder, e);
            whole += flow_is_guarded(last_of(finder, finder->edges[e].from))
                         ? finder->fit.x[e] / LANES
                         : 0;
        }
    if (parts - whole > 1.02 * flow->warps)
        flow->warps = parts;
}

static void bound(FlowFinder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        BlockFlow *flow = &finder->flows[b];
        flow->warps = fmin(flow->threads, fmax(flow->warps, flow->threads / LANES));
    }
}

void flow_warps(FlowFinder *finder, const double *firmness)
{
    take_from_lines(finder, firmness);
    if (limit_warps(finder))
        take_from_lines(finder, firmness);
    take_from_loops(finder);
    take_from_divisions(finder);
    take_from_blocks(finder);
    limit_warps(finder); /* to what comes from a BSYNC, for example */
    for (int e = 0; e < finder->edge_count; e++)
        split_at_end(finder, e);
    for (int b = 0; b < finder->lowering->block_count; b++)
        split_before_meeting(finder, b);
    bound(finder);
}
