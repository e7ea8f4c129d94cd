/* flow_issues.c - machine instructions of each step, from the flow through the machine's blocks. */
#include "sim/machine/flow_finder.h"

#include <math.h>
#include <stdlib.h>

/* Of a block's threads, give or take what the fit is off. */
#define ALL 0.98

/* ptxas guards the instruction that computes what the lanes need. If some need x + 1 and others x,
 * it may instead compute x + 1 for all, and guard the one that takes it back. */
static double selected_share(const Copies *copies, int count, const Selected *selected)
{
    int plain = 0;

    for (int i = 0; i < count; i++)
        plain += copies[i].all - copies[i].guarded_all;
    return plain && selected->or_zero ? 1 - selected->share : selected->share;
}

/* Whether ptxas keeps the array in registers, although the index is not constant: then it compares
 * the index with each one, and the guarded instructions select one of all elements. */
static bool is_selection(const Copies *copies, int count, const Step *step)
{
    int guarded = 0;

    for (int i = 0; i < count; i++) {
        if (copies[i].counterparts)
            return false;
        guarded += copies[i].guarded_all;
    }
    return guarded > 1 && step->space == SPACE_LOCAL &&
           (step->class_ == CLASS_LOAD || step->class_ == CLASS_STORE);
}

/* A load has one unguarded move besides, a store has none. */
static double selection_share(const Copies *copies, int count, const Step *step)
{
    int most = 0;

    for (int i = 0; i < count; i++)
        most = copies[i].guarded_all > most ? copies[i].guarded_all : most;
    return 1.0 / (most + (step->class_ == CLASS_LOAD));
}

/* Threads whose guard is true, of all that execute the line's instructions of this kind. */
static double guard_share(const FlowFinder *finder, int from, int count, const LineCount *line)
{
    double guarded = 0, plain = 0, value = line->lanes;

    if (is_selection(&finder->copies[from], count, line->step))
        return selection_share(&finder->copies[from], count, line->step);
    if (is_warp_reduced(line->step->treatment))
        value = line->warps;
    for (int i = from; i < from + count; i++) {
        const Copies *at = &finder->copies[i];
        guarded += at->guarded * finder->flows[at->block].threads;
        plain += (at->counterparts - at->guarded) * finder->flows[at->block].threads;
    }
    if (line->selected.share >= 0 && line->step->guard < 0 && (guarded > 0 || plain <= 0))
        return selected_share(&finder->copies[from], count, &line->selected);
    if (guarded > 0)
        return fmin(1, fmax(0, value - plain) / guarded);
    if (plain > 0 && line->step->in->op == OP_ex2 && line->lanes > 0)
        return line->long_lanes / line->lanes;
    if ((plain > 0 || flow_is_quotient(line->step)) && line->step->guard < 0)
        return 0; /* rare cases, next to the instruction itself; those of a quotient may also use
                   * the reciprocal of another one */
    return -1;
}

static double *guard_shares(const FlowFinder *finder)
{
    double *shares = calloc((size_t) finder->counts.count + 1, sizeof *shares);

    for (int first = 0, last; shares && first < finder->copies_count; first = last) {
        const int line = finder->copies[first].line;
        last = flow_end_of_line(finder, first);
        shares[line] =
            guard_share(finder, first, last - first, line_count_at(&finder->counts, line));
    }
    return shares;
}

/* The nearest unguarded instruction before the line that is in the same block of the machine code,
 * but in an earlier one of the PTX: all threads execute it, and a branch then chose some of them.
 * Returns NULL if there is no such instruction. */
static const LineCount *chosen_from(const FlowFinder *finder, int b, const LineCount *line)
{
    const MachineBlock *block = &finder->lowering->blocks[b];
    const LineCount *nearest = NULL;

    for (int i = block->first; i < block->first + block->count; i++) {
        const MachineInstruction *in = &finder->lowering->code.instructions[i];
        const LineCount *other = line_count_at(&finder->counts, in->line);
        if (other && !flow_is_guarded(in) && other->function == line->function &&
            other->block < line->block && other->reached > 0 && other->reached >= line->lanes &&
            other->reached > ALL * finder->flows[b].threads &&
            !flow_is_elsewhere(finder->lowering->code.arch, flow_operation(in)) &&
            (!nearest || other->block > nearest->block))
            nearest = other;
    }
    return nearest;
}

/* Threads whose guard is true, if no line of a load or the like shows it. Predicates may replace
 * the branch to the line in each copy of an unrolled loop. */
static double chosen_threads(const FlowFinder *finder, int b, const LineCount *line)
{
    const double threads = finder->flows[b].threads;
    const LineCount *from = chosen_from(finder, b, line);

    return from ? threads * line->lanes / from->reached : fmin(threads, line->lanes);
}

/* A BREAK is executed by those who then take the branch at the block's end: they will not come to
 * the BSYNC. */
static bool leaves_with_branch(const FlowFinder *finder, const MachineBlock *block,
                               const MachineInstruction *in)
{
    const MachineInstruction *last =
        &finder->lowering->code.instructions[block->first + block->count - 1];

    return flow_operation(in) == MACHINE_BREAK && flow_operation(last) == MACHINE_BRA &&
           in->guard == last->guard && in->guard_negated == last->guard_negated;
}

static double active_threads(const FlowFinder *finder, const MachineInstruction *in, int b,
                             bool is_last, const double *shares)
{
    const MachineBlock *block = &finder->lowering->blocks[b];
    const BlockFlow *flow = &finder->flows[b];
    const LineCount *line = line_count_at(&finder->counts, in->line);

    if (!flow_is_guarded(in))
        return flow->threads;
    if (in->if_diverged) /* its guard is true, and only few warps take it */
        return flow->threads;
    if (in->guard == MACHINE_ALWAYS)
        return 0; /* never: three of them stand before an LDGSTS */
    if (block->taken >= 0 &&
        (is_last ? flow_operation(in) == MACHINE_BRA : leaves_with_branch(finder, block, in)))
        return flow->taken;
    if (is_last && block->leaves)
        return flow->left;
    if (!line)
        return flow->threads;
    if (shares[in->line] >= 0)
        return shares[in->line] * flow->threads;
    return chosen_threads(finder, b, line);
}

/* The WARPSYNC of the block's __syncthreads(), before which parts of warps execute the block by
 * themselves; -1: none. Where it comes soon after the lanes of a branch meet, ptxas places no
 * BSYNC. */
static int sync_of(const FlowFinder *finder, int b)
{
    const MachineBlock *block = &finder->lowering->blocks[b];
    int sync = -1;

    for (int i = block->first; i < block->first + block->count; i++) {
        const unsigned operation = flow_operation(&finder->lowering->code.instructions[i]);
        if (operation == MACHINE_BSYNC || operation == MACHINE_BAR)
            return operation == MACHINE_BAR ? sync : -1;
        if (operation == MACHINE_WARPSYNC && sync < 0)
            sync = i;
    }
    return -1;
}

/* What is found once for all instructions. */
typedef struct Prepared {
    double *shares; /* by line */
    int *meetings;  /* by block */
} Prepared;

/* Each part of a warp that has diverged comes to the BSYNC by itself: from branches, or from the
 * loop of an atomic. */
static double parts_at(const FlowFinder *finder, int i, const LineCount *line,
                       const Prepared *prepared)
{
    if (line && line->step->class_ == CLASS_ATOMIC && line->divergent)
        return (double) line->divergent;
    return flow_parts(finder, prepared->meetings, i);
}

/* An indirect branch or call is executed once per part: first by all lanes, then by those that are
 * left. Parts are taken for equally large. */
static void add_switch(const FlowFinder *finder, int b, const Prepared *prepared, Issue *issue)
{
    const BlockFlow *flow = &finder->flows[b];
    const double parts = flow_switch_parts(finder, prepared->meetings, b);

    issue->instructions += (uint64_t) llround(parts);
    if (flow->warps > 0)
        issue->threads += (uint64_t) llround(flow->threads * parts / flow->warps / 2);
}

static void add_instruction(const FlowFinder *finder, int b, int i, const LineCount *line,
                            const Prepared *prepared, double parts, Issue **issues)
{
    const MachineBlock *block = &finder->lowering->blocks[b];
    const MachineInstruction *in = &finder->lowering->code.instructions[i];
    const bool is_last = i == block->first + block->count - 1;
    const int function = line ? line->function : 0;
    const Code *code = function ? finder->launch->codes[function - 1] : finder->launch->kernel;
    Issue *issue = issues[function] ? &issues[function][line ? line->step - code->steps : 0] : NULL;

    if (!issue)
        return;
    issue->instructions += (uint64_t) llround(finder->flows[b].warps + parts);
    if (flow_operation(in) == MACHINE_BSYNC)
        issue->instructions += (uint64_t) llround(parts_at(finder, i, line, prepared));
    else if (is_last && (block->anywhere || block->calls_any))
        add_switch(finder, b, prepared, issue);
    issue->threads += (uint64_t) llround(active_threads(finder, in, b, is_last, prepared->shares));
}

static void add_issues(const FlowFinder *finder, const Prepared *prepared, Issue **issues)
{
    const Lowering *lowering = finder->lowering;
    const LineCount *line = NULL, *own;

    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *block = &lowering->blocks[b];
        const int sync = block->is_reached ? sync_of(finder, b) : -1;
        const double parts = sync < 0 ? 0 : flow_parts_before_sync(finder, b);
        for (int i = block->first; block->is_reached && i < block->first + block->count; i++) {
            own = line_count_at(&finder->counts, lowering->code.instructions[i].line);
            line = own ? own : line;
            add_instruction(finder, b, i, line, prepared, i <= sync ? parts : 0, issues);
        }
    }
}

bool flow_issues(const FlowFinder *finder, Issue **issues)
{
    const Prepared prepared = { .shares = guard_shares(finder),
                                .meetings = calloc((size_t) finder->lowering->block_count + 1,
                                                   sizeof *prepared.meetings) };
    const bool fine =
        prepared.shares && prepared.meetings && flow_meetings(finder, prepared.meetings);

    if (fine)
        add_issues(finder, &prepared, issues);
    free(prepared.shares);
    free(prepared.meetings);
    return fine;
}
