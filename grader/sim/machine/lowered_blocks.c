/* lowered_blocks.c - the basic block of the machine code that stands for one of the PTX, and how
 * many copies of it that has.
 */
#include "sim/machine/flow_finder.h"
#include "sim/machine/lowered_finder.h"

#include <stdlib.h>

/* ---- Instructions of a step ---- */

bool is_of_stack(const Finder *finder, int at, int i)
{
    return instruction_at(finder, i)->stack_words && finder->code->steps[at].space != SPACE_LOCAL;
}

/* The operand of a step that loads no constant itself. */
static bool is_operand_load(const Finder *finder, int at, int i)
{
    const Step *step = &finder->code->steps[at];
    const unsigned operation = flow_operation(instruction_at(finder, i));

    return (operation == MACHINE_LDC || operation == MACHINE_ULDC) && step->space != SPACE_CONST &&
           step->space != SPACE_PARAM;
}

bool is_aside(const Finder *finder, int at, int i)
{
    return is_of_stack(finder, at, i) || is_operand_load(finder, at, i);
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

bool lies_in(const Finder *finder, int i, int block)
{
    return block == ANYWHERE || finder->block_of[i] == block;
}

StepUse uses_in(const Finder *finder, int at, int block)
{
    StepUse use = { .first = -1 };

    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i]) {
        if (!lies_in(finder, i, block) || is_aside(finder, at, i))
            continue;
        use.all++;
        use.counterparts += finder->counterpart[i];
        use.first = use.first < 0 ? i : use.first;
    }
    return use;
}

int counterparts_in(Finder *finder, int first, int last, int block)
{
    int count = 0;

    for (int at = first; at < last; at++) {
        const int n = uses_in(finder, at, block).counterparts;
        if (n)
            finder->sorted[count++] = n;
    }
    qsort(finder->sorted, (size_t) count, sizeof *finder->sorted, compare_numbers);
    return count ? finder->sorted[count / 2] : 0;
}

int copies_in(Finder *finder, int first, int last, int block)
{
    int least = 0;

    for (int at = first; at < last; at++) {
        const int all = uses_in(finder, at, block).all;
        if (all && (!least || all < least))
            least = all;
    }
    const int counterparts = counterparts_in(finder, first, last, block);
    return counterparts ? counterparts : least;
}

/* ---- Blocks ---- */

static bool is_loop(const Finder *finder, int b)
{
    return finder->lowering->blocks[b].taken == b;
}

/* Whether the block has another copy of the steps that block `best` has. */
static bool is_copy(const Finder *finder, int b, int best)
{
    return finder->tally[b] == finder->tally[best] &&
           finder->tally_all[b] >= finder->tally_all[best] / 2;
}

/* Of the copies, the first one that is a loop: ptxas copies the first round of a loop that is
 * entered in its middle. Or else one in a block with the usual number of instructions: the first
 * copy of an unrolled loop is often in one block with what comes before the loop. */
static int typical_copy(const Finder *finder, int best)
{
    const MachineBlock *blocks = finder->lowering->blocks;
    int count = 0, b = 0;

    for (int i = 0; i < finder->lowering->block_count; i++) {
        if (finder->tally[i] == finder->tally[best] && is_loop(finder, i))
            return i;
        if (is_copy(finder, i, best))
            finder->sorted[count++] = blocks[i].count;
    }
    qsort(finder->sorted, (size_t) count, sizeof *finder->sorted, compare_numbers);
    while (!is_copy(finder, b, best) || blocks[b].count != finder->sorted[(count - 1) / 2])
        b++;
    return b;
}

int main_block(Finder *finder, int first, int last, bool is_typical)
{
    const int *tally = finder->tally;
    int best = -1;

    for (int at = first; at < last; at++)
        for (int i = finder->uses[at].first; i >= 0; i = finder->next[i]) {
            const int b = finder->block_of[i];
            finder->tally[b] += finder->counterpart[i];
            finder->tally_all[b]++;
            if (best < 0 || tally[b] > tally[best])
                best = b;
        }
    if (best >= 0 && tally[best] > 0 && is_typical)
        best = typical_copy(finder, best);
    for (int at = first; at < last; at++)
        for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
            finder->tally[finder->block_of[i]] = finder->tally_all[finder->block_of[i]] = 0;
    return best;
}
