/* flow.c - finds how often each machine instruction of a launch ran. */
#include "sim/machine/flow_finder.h"

#include <math.h>
#include <stdlib.h>

/* Larger kernels are estimated from their PTX. */
enum { MOST_EDGES = 1200, MOST_ROUNDS = 8 };

/* How much it costs that all blocks run as often as expected. */
#define COST 0.01
/* NaNs are rare: their blocks cost as much as this number of instructions. */
#define NAN_LENGTH 100

/* ---- Edges: the ways out of each block ---- */

static void add_edge(FlowFinder *finder, int from, int to, Way way)
{
    if (finder->edge_count < MOST_EDGES)
        finder->edges[finder->edge_count] = (Edge){ from, to, way };
    finder->edge_count++;
}

static bool find_edges(FlowFinder *finder)
{
    const Lowering *lowering = finder->lowering;

    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *block = &lowering->blocks[b];
        finder->first_edge[b] = finder->edge_count;
        if (!block->is_reached)
            continue;
        if (block->next >= 0)
            add_edge(finder, b, block->next, WAY_NEXT);
        if (block->taken >= 0)
            add_edge(finder, b, block->taken, WAY_TAKEN);
        if (block->leaves || block->anywhere || (block->next < 0 && block->taken < 0))
            add_edge(finder, b, -1, WAY_LEAVES);
    }
    finder->first_edge[lowering->block_count] = finder->edge_count;
    return finder->edge_count <= MOST_EDGES;
}

/* ---- Solving ---- */

/* Subroutines are shared by lines of any frequency, and their own lines say little. If they were
 * small, a caller's threads would be huge in their unit, and the equations singular. */
static void guess_sizes_of_callees(FlowFinder *finder)
{
    const Lowering *lowering = finder->lowering;
    double most = 1;

    for (int b = 0; b < lowering->block_count; b++)
        if (lowering->blocks[b].callee >= 0)
            most = fmax(most, finder->size[b]);
    for (int b = 0; b < lowering->block_count; b++)
        if (lowering->blocks[b].in_callee)
            finder->size[b] = most;
}

/* Before anything is known: a block runs as often as its most frequent line, once per copy. */
static void guess_sizes(FlowFinder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++)
        finder->size[b] = 0;
    for (int i = 0; i < finder->copies_count; i++) {
        const Copies *at = &finder->copies[i];
        const LineCount *line = line_count_at(&finder->counts, at->line);
        const double each = (line->reached > 0 ? line->reached : 0) /
                            (at->counterparts ? at->counterparts : at->all);
        finder->size[at->block] = fmax(finder->size[at->block], each);
    }
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (finder->size[b] < 1)
            finder->size[b] = fmax(1, finder->threads);
    guess_sizes_of_callees(finder);
}

static double block_threads(const FlowFinder *finder, int block)
{
    double sum = 0;

    for (int e = finder->first_edge[block]; e < finder->first_edge[block + 1]; e++)
        sum += finder->fit.x[e];
    return sum;
}

/* The size of a row: of what it counts, or of the blocks in which it counts. */
static double scale_of(const FlowFinder *finder, const FitRow *row)
{
    double size = 0;

    for (int i = row->first; i < row->first + row->count; i++) {
        const FitTerm *term = &finder->fit.terms[i];
        if (term->factor > 0 && finder->size[finder->edges[term->unknown].from] > size)
            size = finder->size[finder->edges[term->unknown].from];
    }
    return fmax(fmax(row->value, size), 1);
}

/* Subroutines of quotients and roots: a block that only makes a NaN. */
static bool makes_nan(const Lowering *lowering, int block)
{
    enum { MUFU = 0x108, FADD = 0x021 };
    const MachineBlock *at = &lowering->blocks[block];
    const unsigned operation = flow_operation(&lowering->code.instructions[at->first]);

    return at->in_callee && at->count <= 2 && (operation == MUFU || operation == FADD);
}

/* Of flows that fit the lines equally well, the one with the fewest instructions is the best:
 * unrolled loops run rather than the loops for what they leave over, and rare cases do not run. */
static void price(FlowFinder *finder)
{
    const MachineBlock *blocks = finder->lowering->blocks;
    double all = 1;

    for (int b = 0; b < finder->lowering->block_count; b++)
        all += blocks[b].count * finder->size[b];
    for (int e = 0; e < finder->edge_count; e++) {
        const int b = finder->edges[e].from,
                  length = makes_nan(finder->lowering, b) ? NAN_LENGTH : blocks[b].count;
        finder->fit.cost[e] = COST * length * finder->fit.unit[e] / all;
    }
}

static void weigh(FlowFinder *finder, const double *firmness, int first_line, int first_branch,
                  int round)
{
    Fit *fit = &finder->fit;

    price(finder);
    if (round)
        flow_weigh_branches(finder);
    for (int r = 0; r < first_branch; r++) {
        FitRow *row = &fit->rows[r];
        if (r < first_line) {
            row->scale = scale_of(finder, row);
            row->weight = 1e4;
            continue;
        }
        double off = round ? fit_residual(fit, r) / row->scale : 0, firm = fabs(firmness[r]);
        row->scale = scale_of(finder, row);
        if (firmness[r] < 0 && round && off > 0)
            firm *= 0.001;
        else if (firmness[r] < 0 && !round)
            firm *= 0.1;
        row->weight = round ? firm / fmax(fabs(off), 0.002) * 0.1 : firm;
    }
}

static void solve(FlowFinder *finder, const double *firmness, int first_line, int first_branch)
{
    guess_sizes(finder);
    for (int e = 0; e < finder->edge_count; e++)
        finder->fit.unit[e] = finder->size[finder->edges[e].from];
    for (int round = 0; round < MOST_ROUNDS; round++) {
        weigh(finder, firmness, first_line, first_branch, round);
        fit_solve(&finder->fit);
    }
}

/* ---- All ---- */

static void take_flows(FlowFinder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        finder->flows[b] = (BlockFlow){ .threads = block_threads(finder, b) };
        for (int e = finder->first_edge[b]; e < finder->first_edge[b + 1]; e++) {
            if (finder->edges[e].way == WAY_TAKEN)
                finder->flows[b].taken = finder->fit.x[e];
            if (finder->edges[e].way == WAY_LEAVES)
                finder->flows[b].left = finder->fit.x[e];
        }
    }
}

/* The machine code has a copy of each basic block of the PTX, or several that share its executions.
 * So no block runs much more often than the most frequent line, except subroutines and the loops
 * of atomics. A flow that does goes round a loop whose branches do not show how often. */
static bool is_plausible(const FlowFinder *finder)
{
    const LineCounts *counts = &finder->counts;
    double most = finder->threads;

    for (int i = 0; i < counts->count; i++) {
        const LineCount *line = &counts->lines[i];
        if (line->step && line->step->class_ == CLASS_ATOMIC)
            return true;
        most = line->step && line->reached > most ? line->reached : most;
    }
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (!finder->lowering->blocks[b].in_callee && finder->flows[b].threads > 2 * most)
            return false;
    return true;
}

static bool finder_begin(FlowFinder *finder, const Lowering *lowering, const Launch *launch,
                         BlockFlow *flows)
{
    const size_t blocks = (size_t) lowering->block_count + 2;

    *finder = (FlowFinder){ .lowering = lowering, .launch = launch, .flows = flows };
    finder->threads = 1;
    for (int i = 0; i < 3; i++)
        finder->threads *= (double) launch->grid[i] * launch->block[i];
    finder->edges = calloc(MOST_EDGES, sizeof *finder->edges);
    finder->first_edge = calloc(blocks, sizeof *finder->first_edge);
    finder->size = calloc(blocks, sizeof *finder->size);
    finder->branches = calloc(MOST_EDGES, sizeof *finder->branches);
    finder->limited = calloc(blocks, sizeof *finder->limited);
    finder->tiers = calloc(blocks, sizeof *finder->tiers);
    finder->paths = calloc(blocks, sizeof *finder->paths);
    finder->unrolled = calloc(blocks, sizeof *finder->unrolled);
    finder->copies = calloc((size_t) lowering->code.count + 1, sizeof *finder->copies);
    return finder->edges && finder->first_edge && finder->size && finder->tiers && finder->paths &&
           finder->branches && finder->unrolled && finder->copies &&
           line_counts_make(launch, &finder->counts) && find_edges(finder) &&
           fit_begin(&finder->fit, finder->edge_count);
}

static void finder_end(FlowFinder *finder)
{
    free(finder->edges);
    free(finder->first_edge);
    free(finder->size);
    free(finder->tiers);
    free(finder->limited);
    free(finder->paths);
    free(finder->branches);
    free(finder->unrolled);
    free(finder->copies);
    line_counts_free(&finder->counts);
    fit_end(&finder->fit);
}

static bool run(FlowFinder *finder)
{
    double *firmness;
    int first_line;
    bool fine = false;

    flow_copies(finder);
    flow_conservation_rows(finder);
    first_line = finder->fit.row_count;
    firmness = calloc((size_t) first_line + 3 * (size_t) finder->copies_count +
                          2 * (size_t) finder->lowering->block_count + 1,
                      sizeof *firmness);
    if (firmness) {
        flow_line_rows(finder, firmness);
        flow_path_rows(finder, firmness);
        flow_long_way_rows(finder, firmness);
        const int first_branch = finder->fit.row_count;
        flow_branch_rows(finder);
        if (!finder->fit.failed) {
            solve(finder, firmness, first_line, first_branch);
            take_flows(finder);
            flow_warps(finder, firmness);
            fine = !finder->fit.failed && is_plausible(finder);
        }
    }
    free(firmness);
    return fine;
}

static bool find(FlowFinder *finder, const Lowering *lowering, const Launch *launch,
                 BlockFlow *flows)
{
    return !launch->failed && lowering->block_count > 0 &&
           finder_begin(finder, lowering, launch, flows) && run(finder);
}

bool flow_find(const Lowering *lowering, const Launch *launch, BlockFlow *flows)
{
    FlowFinder finder = { 0 };
    const bool found = find(&finder, lowering, launch, flows);

    finder_end(&finder);
    return found;
}

bool count_machine(const Lowering *lowering, const Launch *launch, Issue **issues)
{
    BlockFlow *flows = calloc((size_t) lowering->block_count + 1, sizeof *flows);
    FlowFinder finder = { 0 };
    const bool counted =
        flows && find(&finder, lowering, launch, flows) && flow_issues(&finder, issues);

    free(flows);
    finder_end(&finder);
    return counted;
}
