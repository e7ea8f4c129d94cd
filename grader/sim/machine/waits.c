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
