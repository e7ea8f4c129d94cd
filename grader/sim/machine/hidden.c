/* hidden.c - issues of machine instructions that no step has.
 *
 * Steps of the PTX stand for most instructions of a basic block of the machine code, but not for
 * all: ptxas moves constants into registers, compares 64 bits in two halves, and makes lanes meet
 * again. They take turns of the scheduler like others. So the steps of the block share them, in
 * proportion to their own.
 */
#include "sim/machine/maker.h"

#include <stdlib.h>

typedef struct BlockIssues {
    double stepwise; /* of one execution of the block: by steps */
    double hidden;   /* per issue of a step */
    double due;      /* to the next step */
} BlockIssues;

/* In one execution of the machine block. */
static double issues_in_block(const LoweredStep *lowered, const Operation *o)
{
    if (o->action == NO_INSTRUCTION || lowered->block < 0)
        return 0;
    if (o->action == DO_SEQUENCE)
        return o->place_count;
    return (double) o->issues * o->part / o->whole * lowered->copies;
}

static void count_issues(const OperationMaker *maker, BlockIssues *blocks)
{
    for (int i = 0; i < maker->code->step_count; i++) {
        const LoweredStep *lowered = &maker->lowered.steps[i];
        if (lowered->block >= 0)
            blocks[lowered->block].stepwise +=
                issues_in_block(lowered, &maker->made->operations[i]);
    }
    for (int b = 0; b < maker->lowered.block_count; b++) {
        const double hidden = maker->lowered.instructions[b] - blocks[b].stepwise;
        if (hidden > 0 && blocks[b].stepwise > 0)
            blocks[b].hidden = hidden / blocks[b].stepwise;
    }
}

static bool may_have_more(const Operation *o)
{
    return o->action != NO_INSTRUCTION && o->action != DO_SEQUENCE && o->issues &&
           o->part == o->whole;
}

static void add_issues(const LoweredStep *lowered, BlockIssues *block, Operation *o)
{
    block->due += block->hidden * issues_in_block(lowered, o) / lowered->copies;
    if (block->due < 0.5 || !may_have_more(o))
        return;
    const int more = (int) (block->due + 0.5);
    const int most = UINT8_MAX - o->issues;
    o->issues = (uint8_t) (o->issues + (more < most ? more : most));
    block->due -= more;
}

bool issue_hidden(const OperationMaker *maker)
{
    BlockIssues *blocks = calloc((size_t) maker->lowered.block_count + 1, sizeof *blocks);

    if (!blocks)
        return false;
    if (maker->lowered.steps)
        count_issues(maker, blocks);
    for (int i = 0; i < maker->code->step_count && maker->lowered.steps; i++) {
        const LoweredStep *lowered = &maker->lowered.steps[i];
        if (lowered->block >= 0 && lowered->copies > 0)
            add_issues(lowered, &blocks[lowered->block], &maker->made->operations[i]);
    }
    free(blocks);
    return true;
}
