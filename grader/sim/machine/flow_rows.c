/* flow_rows.c - the equations between the machine's blocks and the lines of the PTX. */
#include "sim/machine/flow_finder.h"
#include "sim/exec/loops.h"

#include <math.h>
#include <string.h>

static void add_threads(FlowFinder *finder, int block, double factor)
{
    for (int e = finder->first_edge[block]; e < finder->first_edge[block + 1]; e++)
        fit_term(&finder->fit, e, factor);
}

/* ---- Equations ---- */

bool flow_is_entered_unseen(const FlowFinder *finder, int block)
{
    const Lowering *lowering = finder->lowering;

    for (int e = 0; e < finder->edge_count; e++)
        if (finder->edges[e].to == block)
            return false;
    for (int b = 0; b < lowering->block_count; b++)
        if (lowering->blocks[b].is_reached && lowering->blocks[b].callee == block)
            return false;
    return block > 0;
}

void flow_conservation_rows(FlowFinder *finder)
{
    const Lowering *lowering = finder->lowering;

    for (int b = 0; b < lowering->block_count; b++) {
        if (!lowering->blocks[b].is_reached || flow_is_entered_unseen(finder, b))
            continue;
        fit_row(&finder->fit, b ? 0 : finder->threads, 1, 0);
        add_threads(finder, b, 1);
        for (int e = 0; e < finder->edge_count; e++)
            if (finder->edges[e].to == b)
                fit_term(&finder->fit, e, -1);
        for (int other = 0; other < lowering->block_count; other++)
            if (lowering->blocks[other].is_reached && lowering->blocks[other].callee == b)
                add_threads(finder, other, -1);
    }
}

typedef struct LineRow {
    bool by_counterparts, is_weak, is_one_sided;
    int per_copy;
} LineRow;

static int copies_in(const Copies *copies, const LineRow *how)
{
    return how->by_counterparts ? copies->counterparts : copies->all;
}

/* How a line's copies are counted: copies[0 .. count - 1]. */
static LineRow row_of(const FlowFinder *finder, const Copies *copies, int count, bool *skip_callees)
{
    LineRow row = { .per_copy = 1 };
    int counterparts = 0, guarded = 0, guarded_all = 0, least = 1 << 30, outside = 0;

    for (int i = 0; i < count; i++)
        outside += !finder->lowering->blocks[copies[i].block].in_callee;
    *skip_callees = outside > 0;
    for (int i = 0; i < count; i++) {
        if (*skip_callees && finder->lowering->blocks[copies[i].block].in_callee)
            continue;
        counterparts += copies[i].counterparts;
        guarded += copies[i].guarded;
        guarded_all += copies[i].guarded_all;
        least = copies[i].all < least ? copies[i].all : least;
    }
    row.by_counterparts = counterparts > 0;
    row.is_weak = !row.by_counterparts;
    row.is_one_sided = (row.by_counterparts ? guarded : guarded_all) > 0;
    row.per_copy = row.by_counterparts ? 1 : least;
    return row;
}

/* A quotient of integers is many instructions, of which ptxas moves some out of loops: the
 * reciprocal, if the divisor stays the same. */
static bool is_measured(const LineCount *line)
{
    return line->reached >= 0 && line->step->in->op != OP_bra && line->step->in->op != OP_ret &&
           line->step->in->op != OP_exit && !flow_is_quotient(line->step);
}

bool flow_is_effect(const Step *step)
{
    return step->class_ == CLASS_STORE || step->class_ == CLASS_ATOMIC ||
           step->class_ == CLASS_BARRIER || step->class_ == CLASS_SHUFFLE;
}

/* Where a loop is unrolled, ptxas keeps one copy of what only counts its rounds. Then a line has
 * fewer copies, or copies in fewer blocks, than others of its basic block in the PTX. */
static bool is_thinned(const FlowFinder *finder, const Copies *copies, int count,
                       const LineRow *how)
{
    int blocks = 0;

    for (int i = 0; i < count; i++) {
        if (copies_in(&copies[i], how) < finder->unrolled[copies[i].block] * how->per_copy)
            return true;
        blocks += finder->unrolled[copies[i].block] > 0;
    }
    return blocks < finder->unrolled_blocks;
}

static int branch_ends(const void *self, int line)
{
    const FlowFinder *finder = self;
    const LineCount *at = line_count_at(&finder->counts, line);

    return at && at->step->in->op == OP_bra && flow_branches_of(finder, line) == 1 ? at->block : -1;
}

/* Only those who need the result of a line execute it. Where a loop was copied, a line has several
 * copies. */
static bool is_sunk(const FlowFinder *finder, const Copies *copies, int count)
{
    const LineCount *line = line_count_at(&finder->counts, copies->line);

    return count == 1 && copies->counterparts <= 1 && !flow_is_effect(line->step) &&
           lowering_is_behind(finder->lowering, copies->block, line->block, branch_ends, finder);
}

static void add_line(FlowFinder *finder, Copies *copies, int count, double *firmness)
{
    const LineCount *line = line_count_at(&finder->counts, copies[0].line);
    bool skip_callees;
    const LineRow how = row_of(finder, copies, count, &skip_callees);
    int row;

    if (!is_measured(line) || (how.is_weak && is_thinned(finder, copies, count, &how)) ||
        is_sunk(finder, copies, count))
        return;
    const bool own_guard = line->step->guard >= 0;
    double value = how.is_one_sided && !own_guard ? line->lanes : line->reached;
    if (is_warp_reduced(line->step->treatment))
        value = line->reached;
    row = fit_row(&finder->fit, value, 1, 0);
    if (row < 0)
        return;
    firmness[row] = how.is_weak ? 0.1 : flow_is_effect(line->step) ? 3 : 1;
    if (how.is_one_sided && !own_guard)
        firmness[row] = -firmness[row];
    for (int i = 0; i < count; i++) {
        const bool skipped = skip_callees && finder->lowering->blocks[copies[i].block].in_callee;
        if (skipped || !copies_in(&copies[i], &how))
            continue;
        copies[i].row = row;
        add_threads(finder, copies[i].block, (double) copies_in(&copies[i], &how) / how.per_copy);
    }
}

static void note_unrolled(FlowFinder *finder, const Copies *copies, int count, bool counterparts)
{
    bool skip_callees;
    const LineRow how = row_of(finder, copies, count, &skip_callees);

    if (how.by_counterparts != counterparts ||
        !is_measured(line_count_at(&finder->counts, copies[0].line)))
        return;
    for (int i = 0; i < count; i++) {
        int *unrolled = &finder->unrolled[copies[i].block];
        const int copied = copies_in(&copies[i], &how) / how.per_copy;
        if (skip_callees && finder->lowering->blocks[copies[i].block].in_callee)
            continue;
        finder->unrolled_blocks += copied && !*unrolled;
        *unrolled = copied > *unrolled ? copied : *unrolled;
    }
}

/* The blocks with a copy of the line whose copies are copies[0 .. count - 1]. */
static int blocks_with(const FlowFinder *finder, const Copies *copies, int count)
{
    int blocks = 0;

    for (int i = 0; i < count; i++)
        blocks += finder->unrolled[copies[i].block] > 0;
    return blocks;
}

/* Calls divide the copies of a loop's body among several blocks, all of which run in each round. So
 * only the blocks of one line are kept, of the one with copies in the most blocks. */
static void keep_blocks_of_a_line(FlowFinder *finder, int first, int last)
{
    int best = first, most = 0;

    for (int from = first, to; from < last; from = to) {
        to = flow_end_of_line(finder, from);
        const int blocks = blocks_with(finder, finder->copies + from, to - from);
        best = blocks > most ? from : best;
        most = blocks > most ? blocks : most;
    }
    for (int b = 0; b < finder->lowering->block_count; b++) {
        bool has_copy = false;
        for (int i = best; i < flow_end_of_line(finder, best); i++)
            has_copy |= finder->copies[i].block == b;
        finder->unrolled[b] = has_copy ? finder->unrolled[b] : 0;
    }
    finder->unrolled_blocks = most;
}

/* Looks at copies first .. last - 1, preferably at instructions that exist one for one. */
static void find_unrolled(FlowFinder *finder, int first, int last)
{
    memset(finder->unrolled, 0, (size_t) finder->lowering->block_count * sizeof *finder->unrolled);
    finder->unrolled_blocks = 0;
    for (int pass = 0; pass < 2 && !finder->unrolled_blocks; pass++)
        for (int from = first, to; from < last; from = to) {
            to = flow_end_of_line(finder, from);
            note_unrolled(finder, finder->copies + from, to - from, !pass);
        }
    keep_blocks_of_a_line(finder, first, last);
}

/* ---- Unrolled loops ---- */

/* The largest number of copies below `below` in any block; 0: there are no more. */
static int next_tier(const FlowFinder *finder, int below)
{
    int tier = 0;

    for (int b = 0; b < finder->lowering->block_count; b++)
        if (finder->unrolled[b] > tier && finder->unrolled[b] < below)
            tier = finder->unrolled[b];
    return tier;
}

/* Threads enter a loop of one block from elsewhere. */
static void add_entry(FlowFinder *finder, int block, double threads, double *firmness)
{
    const MachineBlock *at = &finder->lowering->blocks[block];
    int row;

    if (at->next != block && at->taken != block)
        return;
    row = fit_row(&finder->fit, threads, 1, 0);
    if (row >= 0)
        firmness[row] = 1;
    for (int e = 0; e < finder->edge_count; e++)
        if (finder->edges[e].to == block && finder->edges[e].from != block)
            fit_term(&finder->fit, e, 1);
}

/* How often the copies for some rounds at once run. */
typedef struct TierCount {
    double threads, warps, splits; /* warps 0: unknown, as are splits */
    bool is_exact;
} TierCount;

static int power_of(int tier)
{
    int power = 0;

    while (power < LOOP_POWERS && 1 << power != tier)
        power++;
    return power;
}

/* After groups of `before` rounds (0: none), as the loop itself counted. Returns false if it did
 * not count such groups. */
static bool count_tier(const LoopCount *loop, int tier, int before, TierCount *count)
{
    const int power = power_of(tier), larger = before ? power_of(before) : 0;

    if (!loop || power == LOOP_POWERS || larger == LOOP_POWERS ||
        (before && tier > 1 && before != 2 * tier))
        return false;
    *count = (TierCount){ (double) loop->lanes[power], (double) loop->groups[power],
                          tier > 1 ? (double) loop->splits[power] : -1, true };
    if (before)
        count->threads -= (double) (before / tier) * (double) loop->lanes[larger];
    if (before == 2 * tier) {
        count->warps = (double) loop->with_bit[power];
        count->splits = (double) loop->bit_splits[power];
    } else if (before) {
        count->warps = (double) loop->remainder[larger];
        count->splits = (double) loop->remainder_splits[larger];
    }
    return true;
}

/* The threads have `rounds` left on average: if all do equally many, the number follows; otherwise
 * every remainder is assumed to be equally frequent. */
static TierCount estimate_tier(double entries, double rounds, int tier)
{
    const bool is_even = fabs(rounds - floor(rounds + 0.5)) < 1e-9;
    const double times =
        is_even ? floor(rounds / tier) : fmax(0, (rounds - (tier - 1) / 2.0) / tier);

    return (TierCount){ times * entries, 0, 0, is_even };
}

static bool add_tier(FlowFinder *finder, const LineCount *line, int tier, const TierCount *count,
                     double *firmness)
{
    const double replaces = line->loop ? (double) line->loop->splits[0] : 0,
                 parts = line->loop ? replaces + (double) line->loop->visits : 0;
    const int row = fit_row(&finder->fit, count->threads, 1, 0);

    if (row < 0)
        return false;
    firmness[row] = count->is_exact ? 3 : 0.3;
    for (int b = 0; b < finder->lowering->block_count; b++) {
        if (finder->unrolled[b] != tier)
            continue;
        add_threads(finder, b, 1);
        if (count->warps > 0 && count->threads > 0)
            finder->tiers[b] = (Tier){ count->warps / count->threads, count->splits, replaces,
                                       count->splits < 0 ? parts : 0 };
    }
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (finder->unrolled[b] == tier && count->threads >= line->entries)
            add_entry(finder, b, line->entries, firmness);
    return true;
}

/* ptxas makes of a loop one that does 4 rounds at once, say, followed by copies for 2 rounds and
 * for 1. */
static void add_tiers(FlowFinder *finder, const LineCount *line, double *firmness)
{
    double rounds = line->entries > 0 ? line->reached / line->entries : 0;
    int before = 0;

    if (rounds <= 0)
        return;
    for (int tier = next_tier(finder, 1 << 30); tier; tier = next_tier(finder, tier)) {
        TierCount count = estimate_tier(line->entries, rounds, tier);
        if (before >= 0 && !count_tier(line->loop, tier, before, &count))
            before = -1;
        if (!add_tier(finder, line, tier, &count, firmness))
            return;
        rounds -= count.threads / line->entries * tier;
        before = before < 0 ? before : tier;
    }
}

/* ---- Quotients and roots ---- */

/* The line of the quotient or root whose subroutine the block calls; NULL: it calls none. */
static const LineCount *long_way_of(const FlowFinder *finder, int block)
{
    const MachineBlock *at = &finder->lowering->blocks[block];
    const int last = at->first + at->count - 1;
    const LineCount *line =
        line_count_at(&finder->counts, finder->lowering->code.instructions[last].line);

    if (!at->is_reached || at->callee < 0 || !line || line->step->class_ == CLASS_INT)
        return NULL;
    const Op op = line->step->in->op;
    return op == OP_div || op == OP_sqrt || op == OP_rcp ? line : NULL;
}

static void add_long_way(FlowFinder *finder, const LineCount *line, double *firmness)
{
    const int row = fit_row(&finder->fit, line->long_lanes, 1, 0);

    if (row < 0)
        return;
    firmness[row] = 3;
    for (int b = 0; b < finder->lowering->block_count; b++)
        if (long_way_of(finder, b) == line) {
            add_threads(finder, b, 1);
            if (line->long_lanes > 0)
                finder->tiers[b] = (Tier){ line->long_warps / line->long_lanes, -1, 0, 0 };
        }
}

void flow_long_way_rows(FlowFinder *finder, double *firmness)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        const LineCount *line = long_way_of(finder, b);
        bool is_first = line != NULL;
        for (int before = 0; before < b; before++)
            is_first &= long_way_of(finder, before) != line;
        if (is_first)
            add_long_way(finder, line, firmness);
    }
}

void flow_line_rows(FlowFinder *finder, double *firmness)
{
    for (int first = 0, last; first < finder->copies_count; first = last) {
        last = flow_end_of_block(finder, first);
        find_unrolled(finder, first, last);
        add_tiers(finder, line_count_at(&finder->counts, finder->copies[first].line), firmness);
        for (int from = first, to; from < last; from = to) {
            to = flow_end_of_line(finder, from);
            add_line(finder, finder->copies + from, to - from, firmness);
        }
    }
}
