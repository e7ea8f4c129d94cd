/* flow_branches.c - the equations between the branches of machine code and PTX.
 *
 * Where an unrolled or rotated loop has two copies of a line, the line's count is their sum. The
 * branches show how it divides. ptxas may turn a branch round, so that it is taken where that of
 * the PTX is not. */
#include "sim/machine/flow_finder.h"

#include <math.h>

/* Branches of blocks that run as often as in the PTX, give or take this share, count. */
#define SAME   0.02
#define WEIGHT 0.3

static const MachineInstruction *last_of(const FlowFinder *finder, int block)
{
    const MachineBlock *at = &finder->lowering->blocks[block];

    return &finder->lowering->code.instructions[at->first + at->count - 1];
}

static bool is_branch(const MachineInstruction *in)
{
    return flow_operation(in) == MACHINE_BRA && flow_is_guarded(in) && !in->is_conditional;
}

/* A line with several branches was copied. */
static int branches_of(const FlowFinder *finder, int line)
{
    int count = 0;

    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineInstruction *in = last_of(finder, b);
        count += finder->lowering->blocks[b].is_reached && in->line == line &&
                 flow_operation(in) == MACHINE_BRA;
    }
    return count;
}

static void add_branch(FlowFinder *finder, int edge)
{
    const MachineInstruction *in = last_of(finder, finder->edges[edge].from);
    const LineCount *line = line_count_at(&finder->counts, in->line);

    if (!is_branch(in) || !line || line->step->in->op != OP_bra || line->step->guard < 0 ||
        line->reached <= 0 || branches_of(finder, in->line) != 1)
        return;
    const int row = fit_row(&finder->fit, 0, line->reached, 0);
    if (row < 0)
        return;
    fit_term(&finder->fit, edge, 1);
    finder->branches[finder->branch_count++] =
        (Branch){ edge, row, line->lanes, line->reached - line->lanes };
}

void flow_branch_rows(FlowFinder *finder)
{
    for (int e = 0; e < finder->edge_count; e++)
        if (finder->edges[e].way == WAY_TAKEN)
            add_branch(finder, e);
}

static double threads_of(const FlowFinder *finder, int block)
{
    double sum = 0;

    for (int e = finder->first_edge[block]; e < finder->first_edge[block + 1]; e++)
        sum += finder->fit.x[e];
    return sum;
}

void flow_weigh_branches(FlowFinder *finder)
{
    for (int i = 0; i < finder->branch_count; i++) {
        const Branch *branch = &finder->branches[i];
        const double reached = branch->taken + branch->passed, x = finder->fit.x[branch->edge],
                     threads = threads_of(finder, finder->edges[branch->edge].from);
        FitRow *row = &finder->fit.rows[branch->row];
        row->value =
            fabs(x - branch->taken) < fabs(x - branch->passed) ? branch->taken : branch->passed;
        row->weight = fabs(threads - reached) < SAME * reached ? WEIGHT : 0;
    }
}
