/* waits.c - what holds up a step besides its operands: meetings of lanes, instructions that PTX
 * lacks, and predicates that replace branches.
 */
#include "sim/machine/maker.h"

/* Copies of one meeting, in an unrolled loop, have the same steps. Slow paths of quotients and
 * roots are part of their latency. */
void wait_for_meetings(const OperationMaker *maker)
{
    Operation *operations = maker->made->operations;

    for (int i = 0; i < maker->lowered.meeting_count; i++) {
        const Meeting *meeting = &maker->lowered.meetings[i];
        if (meeting->of < 0 || operations[meeting->of].action != DO_SEQUENCE)
            operations[meeting->at].held = (uint16_t) maker->device->meeting_cycles;
    }
}

/* Constants at a computed address and special registers are steps of PTX, with latencies of their
 * own. */
void wait_for_hidden(const OperationMaker *maker)
{
    Operation *operations = maker->made->operations;

    for (int i = 0; i < maker->lowered.wait_count; i++) {
        const HiddenWait *wait = &maker->lowered.waits[i];
        const bool is_step = wait->of >= 0 && (operations[wait->of].action == DO_LOCAL ||
                                               operations[wait->of].pipe == PIPE_SFU);
        const int left = maker->device->hidden_latency - wait->between;
        if (!is_step && left > operations[wait->at].held)
            operations[wait->at].held = (uint16_t) left;
    }
}

/* The first step with an instruction that lanes execute that do not take the branch; -1: none. */
static int first_under(const OperationMaker *maker, int branch)
{
    const Operation *operations = maker->made->operations;

    for (int i = branch + 1; i < maker->code->steps[branch].jump.target; i++) {
        if (is_branch(maker, i))
            return -1;
        if (operations[i].action != NO_INSTRUCTION && operations[i].place >= 0)
            return i;
    }
    return -1;
}

/* The first step from `at` to before `end` that the machine code has, or in the other direction the
 * first one back to the start; -1: none. */
static int next_placed(const OperationMaker *maker, int at, int end)
{
    while (at != end && maker->lowered.steps[at].place < 0)
        at += at < end ? 1 : -1;
    return at == end ? -1 : at;
}

/* Whether a branch forward is in no place of the machine code, which has what it skips in the same
 * basic block as what comes before it. */
static bool is_replaced(const OperationMaker *maker, int at)
{
    const Step *step = &maker->code->steps[at];
    const int target = step->jump.target;

    if (!step->in || step->in->op != OP_bra || target <= at + 1 ||
        target > maker->code->step_count || maker->lowered.steps[at].has_branch)
        return false;
    for (int i = at + 1; i < target; i++)
        if (maker->lowered.steps[i].has_branch)
            return false;
    const int before = next_placed(maker, at, -1), under = next_placed(maker, at + 1, target);
    return before >= 0 && under >= 0 &&
           maker->lowered.steps[before].block == maker->lowered.steps[under].block;
}

void find_replaced(const OperationMaker *maker)
{
    for (int i = 0; i < maker->code->step_count && maker->lowered.steps; i++)
        maker->none[i] |= is_replaced(maker, i);
}

/* A jump at the end of what a branch skips: there is another arm, which ptxas may have merged with
 * this one. */
static bool has_other_arm(const OperationMaker *maker, int target)
{
    const Step *last = &maker->code->steps[target - 1];

    return last->in && last->in->op == OP_bra && last->guard < 0;
}

/* Lanes skip what is under a predicate, but their warp does not. */
void issue_under_predicates(const OperationMaker *maker)
{
    for (int i = 0; i < maker->code->step_count; i++) {
        const Step *step = &maker->code->steps[i];
        if (!maker->none[i] || !step->in || step->in->op != OP_bra || step->guard < 0 ||
            step->jump.target <= i + 1 || has_other_arm(maker, step->jump.target))
            continue;
        const int skips = step->jump.target - i - 1;
        maker->made->operations[i].skips = (uint16_t) (skips < UINT16_MAX ? skips : 0);
    }
}

/* Where a predicate replaces a branch, the first instruction under it waits for the predicate,
 * whether lanes execute it or not. */
void wait_for_predicates(const OperationMaker *maker)
{
    Operation *operations = maker->made->operations;

    for (int i = 0; i < maker->code->step_count && maker->lowered.steps; i++) {
        const int under =
            maker->none[i] && maker->code->steps[i].guard >= 0 ? first_under(maker, i) : -1;
        if (under < 0 || operations[i].action != NO_INSTRUCTION)
            continue;
        operations[i].action = DO_COMPUTE;
        operations[i].block = operations[under].block;
        operations[i].place = operations[under].place;
        operations[i].first_place = operations[under].first_place;
        operations[i].place_count = operations[under].place_count;
    }
}
