/* stretches.c - steps that the time model puts in order together, and the rounds of loops that
 * ptxas unrolled.
 */
#include "sim/machine/maker.h"

/* Whether the machine code has all steps of a loop in one basic block. */
static bool is_in_one_block(const Operation *first, int count)
{
    for (int i = 0; i < count; i++) {
        const Operation *o = &first[i];
        const bool is_loose = o->action == NO_INSTRUCTION || o->action == DO_BRANCH;
        if (!is_loose && (o->place < 0 || o->block != first->block || o->memory == MEMORY_ORDERED ||
                          o->action == DO_SEQUENCE))
            return false;
    }
    return true;
}

/* The first step of the loop whose last step is `end`, a branch. -1: `end` is no such branch, or
 * the machine code divides the loop. */
static int loop_ending_at(const OperationMaker *maker, int end)
{
    const Step *step = &maker->code->steps[end];
    const int first = step->jump.target;

    if (!maker->lowered.steps || maker->made->operations[end].action != DO_BRANCH ||
        step->in->op != OP_bra || first < 0 || first > end || !maker->lowered.steps[first].copies ||
        !is_in_one_block(&maker->made->operations[first], end - first + 1))
        return -1;
    return first;
}

/* A loop whose number of rounds is not a multiple of what the compiler unrolled is entered in its
 * middle, and left before its end. ptxas makes one basic block of it, and copies of the steps
 * before the first full round. This tells whether the branch enters such a loop. */
static bool enters_loop(const OperationMaker *maker, int from, int target)
{
    for (int end = target; end < maker->code->step_count; end++) {
        const int first = loop_ending_at(maker, end);
        if (first > from && first < target)
            return true;
    }
    return false;
}

/* Whether the branch leaves such a loop: the machine code lacks the one after it, which returns. */
static bool leaves_loop(const OperationMaker *maker, int at)
{
    return at + 1 < maker->code->step_count && maker->lowered.steps &&
           maker->lowered.steps[at + 1].place < 0 && maker->code->steps[at].jump.target > at + 1 &&
           maker->code->steps[at + 1].in && maker->code->steps[at + 1].in->guard < 0 &&
           loop_ending_at(maker, at + 1) >= 0;
}

/* A stretch ends after a branch, a sequence with branches, a barrier or a fence, and before the
 * target of a branch. */
void find_stretches(OperationMaker *maker)
{
    const Code *code = maker->code;
    const int count = code->step_count;
    Operation *operations = maker->made->operations;

    for (int i = 0; i < count; i++)
        operations[i].straight = (is_branch(maker, i) && !leaves_loop(maker, i)) ||
                                 operations[i].action == DO_SEQUENCE ||
                                 operations[i].memory == MEMORY_ORDERED;
    for (int i = 0; i < count; i++) {
        const int target = code->steps[i].jump.target;
        if (is_branch(maker, i) && code->steps[i].in->op == OP_bra && target > 0 &&
            target <= count && !enters_loop(maker, i, target))
            operations[target - 1].straight = 1;
    }
    operations[count].straight = 1;
    for (int i = count - 1; i >= 0; i--)
        if (!operations[i].straight) {
            const int more = operations[i + 1].straight + 1;
            operations[i].straight = (uint16_t) (more < UINT16_MAX ? more : UINT16_MAX);
        }
}

/* Where ptxas divides a block, its parts may be in blocks of their own, of which a branch's part
 * may have other copies. */
static int least_copies(const OperationMaker *maker, int first, int end)
{
    const LoweredStep *steps = maker->lowered.steps;
    int least = steps[end].copies;

    for (int i = first; i < end; i++)
        if (steps[i].copies && steps[i].copies < least)
            least = steps[i].copies;
    return least;
}

/* A loop of one basic block whose machine code has copies for several rounds. */
void find_rounds(OperationMaker *maker)
{
    const Code *code = maker->code;
    Operation *operations = maker->made->operations;

    for (int i = 0; i <= code->step_count; i++)
        operations[i].rounds = 1;
    for (int end = 0; end < code->step_count && maker->lowered.steps; end++) {
        const int first = loop_ending_at(maker, end), count = end - first + 1;
        if (first < 0 || operations[first].straight != count)
            continue;
        const bool leaves = end && leaves_loop(maker, end - 1);
        const int copies =
            leaves ? maker->lowered.steps[first].copies : least_copies(maker, first, end);
        if (leaves)
            operations[end].action = NO_INSTRUCTION;
        if (copies < 2 || copies * count > MOST_STEPS || copies > UINT8_MAX)
            continue;
        int written = 0;
        for (int i = first; i <= end; i++)
            written += operations[i].writes + operations[i].loads_before; /* each of one register */
        operations[first].rounds = (uint8_t) copies;
        if ((copies - 1) * written > maker->made->registers_spare)
            maker->made->registers_spare = (copies - 1) * written;
    }
}
