/* lowered_waits.c - what the machine code makes a warp wait for: other lanes, instructions that PTX
 * lacks, its stall counts, and its issues.
 */
#include "sim/machine/flow_finder.h"
#include "sim/machine/lowered_finder.h"

/* ---- Meetings ---- */

/* The step of the first instruction after the block's BSYNC; -1: the block has none. */
static int step_after_meeting(const Finder *finder, const MachineBlock *block)
{
    int at = -1;

    for (int i = block->first + 1; at < 0 && i < block->first + block->count; i++)
        at = step_of(finder, i);
    return at;
}

void take_meetings(const Finder *finder, Lowered *lowered)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineBlock *block = &finder->lowering->blocks[b];
        const int at = step_after_meeting(finder, block);
        if (at >= 0 && block->is_reached && flow_begins_with_meeting(finder->lowering, b))
            lowered->meetings[lowered->meeting_count++] =
                (Meeting){ .at = at, .of = step_of(finder, block->first) };
    }
}

/* ---- Hidden waits ---- */

static bool is_hidden(const MachineInstruction *in)
{
    const unsigned operation = flow_operation(in);

    return (operation == MACHINE_LDC || operation == MACHINE_S2UR) &&
           in->write_barrier != MACHINE_NO_BARRIER;
}

static void take_wait(const Finder *finder, const MachineBlock *block, int i, Lowered *lowered)
{
    const unsigned barrier = 1u << instruction_at(finder, i)->write_barrier;
    int between = 0, user = i;

    do {
        between += instruction_at(finder, user)->stall;
        if (++user == block->first + block->count)
            return;
    } while (!(instruction_at(finder, user)->wait & barrier));
    const int at = step_of(finder, user);
    if (at >= 0 && lowered->steps[at].block == finder->block_of[user])
        lowered->waits[lowered->wait_count++] =
            (HiddenWait){ .at = at, .of = step_of(finder, i), .between = between };
}

void take_waits(const Finder *finder, Lowered *lowered)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineBlock *block = &finder->lowering->blocks[b];
        for (int i = block->first; block->is_reached && i < block->first + block->count; i++)
            if (is_hidden(instruction_at(finder, i)))
                take_wait(finder, block, i, lowered);
    }
}

/* ---- Stalls ---- */

void take_stalls(const Finder *finder, Lowered *lowered)
{
    for (int i = 0; i < finder->lowering->code.count; i++) {
        const int called = sequence_called(finder, i).stalls;
        lowered->stalls[i] =
            (Stall){ step_of(finder, i), instruction_at(finder, i)->stall + called };
    }
}

/* ---- Issues ---- */

/* What ptxas adds where lanes part and meet, with the line of whatever was there before. */
static bool is_added(unsigned operation)
{
    static const uint16_t added[] = { MACHINE_P2R,   MACHINE_R2P,      MACHINE_BSSY,
                                      MACHINE_BSYNC, MACHINE_WARPSYNC, MACHINE_BREAK };

    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        if (operation == added[i])
            return true;
    return false;
}

/* Copies that ptxas has moved to other blocks are issued with the step in its own; accesses to the
 * stack are steps of their own (sim/machine/stack.c). */
static bool is_issued_in(const Finder *finder, const Lowered *lowered, int b, int i)
{
    const MachineInstruction *in = instruction_at(finder, i);
    const int at = step_of(finder, i);

    if (is_added(flow_operation(in)))
        return true;
    if (at < 0)
        return !in->stack_words && flow_operation(in) != MACHINE_NOP;
    if (is_of_stack(finder, at, i))
        return false;
    return lowered->steps[at].block < 0 || lowered->steps[at].block == b;
}

void take_instructions(const Finder *finder, Lowered *lowered)
{
    lowered->block_count = finder->lowering->block_count;
    for (int b = 0; b < lowered->block_count; b++) {
        const MachineBlock *block = &finder->lowering->blocks[b];
        for (int i = block->first; block->is_reached && i < block->first + block->count; i++)
            lowered->instructions[b] += is_issued_in(finder, lowered, b, i);
    }
}
