/* flow_branches.c - the equations between the branches of machine code and PTX.
 *
 * Where an unrolled or rotated loop has two copies of a line, the line's count is their sum. The
 * branches show how it divides. ptxas may turn a branch round, so that it is taken where that of
 * the PTX is not: the lines to which it leads show that.
 */
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

int flow_branches_of(const FlowFinder *finder, int line)
{
    int count = 0;

    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineInstruction *in = last_of(finder, b);
        count += finder->lowering->blocks[b].is_reached && in->line == line &&
                 flow_operation(in) == MACHINE_BRA;
    }
    return count;
}

/* ---- Which way ---- */

/* The number of the basic block of the PTX that begins at a step; -1: unknown. */
static int block_at(const FlowFinder *finder, const LineCount *line, int step)
{
    const Launch *launch = finder->launch;
    const Code *code = line->function ? launch->codes[line->function - 1] : launch->kernel;
    const LineCount *at = step >= 0 && step < code->step_count
                              ? line_count_at(&finder->counts, code->steps[step].in->ptx_line)
                              : NULL;

    return at ? at->block : -1;
}

/* Which of two basic blocks of the PTX is nearer to the beginning of a machine's block; -1: neither
 * is in it. */
static int first_of(const FlowFinder *finder, int block, int one, int other)
{
    const MachineBlock *at = &finder->lowering->blocks[block];

    for (int i = at->first; i < at->first + at->count; i++) {
        const MachineInstruction *in = &finder->lowering->code.instructions[i];
        const LineCount *line = line_count_at(&finder->counts, in->line);
        if (machine_pipe(finder->lowering->code.arch, flow_operation(in)) == MACHINE_CONTROL)
            continue; /* a BSYNC has the line before it */
        if (line && line->block >= 0 && (line->block == one || line->block == other))
            return line->block;
    }
    return -1;
}

/* The threads that take the machine's branch; -1: unknown. */
static double taken_by(const FlowFinder *finder, const MachineBlock *block, const LineCount *line)
{
    const Code *code =
        line->function ? finder->launch->codes[line->function - 1] : finder->launch->kernel;
    const int target = block_at(finder, line, line->step->jump.target),
              next = block_at(finder, line, (int) (line->step - code->steps) + 1);
    int taken = first_of(finder, block->taken, target, next);

    if (target < 0 || next < 0 || target == next)
        return -1;
    if (taken < 0 && block->next >= 0) {
        taken = first_of(finder, block->next, target, next);
        taken = taken < 0 ? -1 : taken == target ? next : target;
    }
    return taken < 0 ? -1 : taken == target ? line->lanes : line->reached - line->lanes;
}

/* ---- Equations ---- */

static void add_branch(FlowFinder *finder, int edge)
{
    const int block = finder->edges[edge].from;
    const MachineInstruction *in = last_of(finder, block);
    const LineCount *line = line_count_at(&finder->counts, in->line);

    if (!is_branch(in) || !line || line->step->in->op != OP_bra || line->step->guard < 0 ||
        line->reached <= 0 || flow_branches_of(finder, in->line) != 1)
        return;
    const double taken = taken_by(finder, &finder->lowering->blocks[block], line);
    const int row = taken < 0 ? -1 : fit_row(&finder->fit, taken, line->reached, 0);
    if (row < 0)
        return;
    fit_term(&finder->fit, edge, 1);
    finder->branches[finder->branch_count++] = (Branch){ block, row, line->reached };
}

/* Whether the basic block of the PTX behind that of a line is a loop. */
static bool is_before_loop(const FlowFinder *finder, const LineCount *line)
{
    for (int i = 0; i < finder->counts.count; i++) {
        const LineCount *next = &finder->counts.lines[i];
        if (next->step && next->function == line->function && next->block == line->block + 1)
            return next->entries >= 0;
    }
    return false;
}

/* In front of an unrolled loop, ptxas tests whether any rounds are left, and if not, jumps to the
 * copy for one round. The PTX has no such branch: a loop that tests at its end has at least one. */
static void add_test_for_rounds(FlowFinder *finder, int edge)
{
    const int block = finder->edges[edge].from;
    const MachineInstruction *in = last_of(finder, block);
    const LineCount *line = line_count_at(&finder->counts, in->line);

    if (!is_branch(in) || !line || line->reached <= 0 || line->entries >= 0 ||
        line->step->in->op == OP_bra || flow_is_quotient(line->step) ||
        finder->lowering->blocks[finder->lowering->blocks[block].next].callee >= 0 ||
        !is_before_loop(finder, line))
        return;
    const int row = fit_row(&finder->fit, 0, line->reached, 0);
    if (row < 0)
        return;
    fit_term(&finder->fit, edge, 1);
    finder->branches[finder->branch_count++] = (Branch){ block, row, line->reached };
}

void flow_branch_rows(FlowFinder *finder)
{
    for (int e = 0; e < finder->edge_count; e++)
        if (finder->edges[e].way == WAY_TAKEN) {
            add_branch(finder, e);
            add_test_for_rounds(finder, e);
        }
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
        const double off = fabs(threads_of(finder, branch->block) - branch->reached);
        finder->fit.rows[branch->row].weight = off < SAME * branch->reached ? WEIGHT : 0;
    }
}
