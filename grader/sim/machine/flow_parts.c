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

/* Marks the blocks that can be reached from `block` without coming to the BSYNC `meeting`. Returns
 * their number. */
static int mark_until(const Lowering *lowering, int block, int meeting, bool *marked, int *stack)
{
    int depth = 0, count = 0;

    memset(marked, 0, (size_t) lowering->block_count * sizeof *marked);
    marked[block] = true;
    stack[depth++] = block;
    while (depth) {
        const MachineBlock *at = &lowering->blocks[stack[--depth]];
        const int next[] = { at->next, at->taken };
        count++;
        for (int i = 0; i < 2; i++) {
            const MachineBlock *to = next[i] >= 0 ? &lowering->blocks[next[i]] : NULL;
            if (!to || marked[next[i]] || (meeting >= to->first && meeting < to->first + to->count))
                continue;
            marked[next[i]] = true;
            stack[depth++] = next[i];
        }
    }
    return count;
}

/* Of the BSYNCs that enclose a block, the one with the fewest blocks before it is the nearest. */
bool flow_meetings(const FlowFinder *finder, int *meetings)
{
    const Lowering *lowering = finder->lowering;
    const size_t blocks = (size_t) lowering->block_count + 1;
    int *stack = calloc(blocks, sizeof *stack), *fewest = calloc(blocks, sizeof *fewest);
    bool *marked = calloc(blocks, sizeof *marked);

    for (int b = 0; b < lowering->block_count; b++)
        meetings[b] = -1;
    for (int i = 0, b = 0; stack && fewest && marked && i < lowering->code.count; i++) {
        const MachineInstruction *in = &lowering->code.instructions[i];
        while (b < lowering->block_count - 1 && i >= lowering->blocks[b + 1].first)
            b++;
        if (flow_operation(in) != MACHINE_BSSY || in->target < 0 || !lowering->blocks[b].is_reached)
            continue;
        const int count = mark_until(lowering, b, in->target, marked, stack);
        for (int k = 0; k < lowering->block_count; k++)
            if (marked[k] && (meetings[k] < 0 || count <= fewest[k])) {
                meetings[k] = in->target;
                fewest[k] = count;
            }
    }
    const bool fine = stack && fewest && marked;
    free(stack);
    free(fewest);
    free(marked);
    return fine;
}

/* ---- Parts ---- */

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
    if (!line || line->reached <= 0)
        return 0;
    const double share = finder->flows[block].threads / line->reached;
    return (double) line->divergent * (share < 1 ? share : 1);
}

double flow_parts(const FlowFinder *finder, const int *meetings, int bsync)
{
    double parts = 0;

    for (int b = 0; b < finder->lowering->block_count; b++)
        if (meetings[b] == bsync)
            parts += parts_of(finder, b);
    return parts;
}
