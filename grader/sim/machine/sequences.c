/* sequences.c - divisions, for which ptxas generates a sequence of instructions or calls a
 * subroutine: which instruction stands for the step, and how long a warp needs for all of them.
 */
#include "sim/machine/flow_finder.h"
#include "sim/machine/lowered_finder.h"

bool sequence_is_quotient(const Step *step)
{
    const Instruction *in = step->in;

    return in && (in->op == OP_div || in->op == OP_rem) && in->type_count &&
           type_is_whole(in->types[0]);
}

bool sequence_is_fraction(const Step *step)
{
    const Instruction *in = step->in;

    return in && (in->op == OP_div || in->op == OP_sqrt || in->op == OP_rcp) && in->type_count &&
           type_is_float(in->types[0]) && !has_mod(in, MOD_approx) && !has_mod(in, MOD_full);
}

/* ---- Counterparts ---- */

/* A quotient of 64 bits has its call. One of 32 bits has two upper halves of products: the first
 * one makes the divisor's reciprocal more exact, and is in front of the loop if the divisor does
 * not change in it; only the second one is there for each quotient. */
static bool stands_for_quotient(StepUse *use, const Step *step, unsigned operation)
{
    const bool is_special = operation == MACHINE_MUFU, is_high = operation == MACHINE_IMAD_HIGH;

    if (type_size(step->in->types[0]) != 4)
        return operation == (type_size(step->in->types[0]) == 8 ? MACHINE_CALL : MACHINE_MUFU);
    use->reciprocals += is_special;
    if (is_high && use->reciprocals > 0)
        use->reciprocals--;
    else if (is_high)
        return true;
    return false;
}

bool find_counterpart(Finder *finder, int at, int i)
{
    const Step *step = &finder->code->steps[at];
    const MachineInstruction *in = instruction_at(finder, i);
    const unsigned operation = flow_operation(in);

    return sequence_is_quotient(step)
               ? stands_for_quotient(&finder->uses[at], step, operation)
               : flow_is_counterpart(step->in, operation) && !flow_is_move(in);
}

/* ---- Cycles ---- */

/* A later instruction waits for the result of this one as long as for that of a special function:
 * conversions and reciprocals do, and a constant does at least. Calls and returns take so long,
 * too (tests/sim/time/mechanisms, quotient.rem_u64). */
static bool is_awaited(const MachineInstruction *in)
{
    const unsigned operation = flow_operation(in);

    return in->write_barrier != MACHINE_NO_BARRIER || operation == MACHINE_CALL ||
           operation == MACHINE_RET;
}

static void add_instruction(const Finder *finder, int i, MachineSequence *sequence)
{
    const MachineInstruction *in = instruction_at(finder, i);

    sequence->issues++;
    sequence->stalls += in->stall;
    sequence->waits += is_awaited(in);
    sequence->fp64 += machine_pipe(finder->lowering->code.arch, in->opcode) == MACHINE_FP64;
}

enum { MOST_CALLED = 1000 }; /* instructions; a division has less than 100 */

/* The subroutine's way without branches. */
static MachineSequence sequence_of_callee(const Finder *finder, int callee)
{
    const Lowering *lowering = finder->lowering;
    MachineSequence sequence = { 0 };

    for (int b = callee; b >= callee && sequence.issues < MOST_CALLED; b = lowering->blocks[b].next)
        for (int i = 0; i < lowering->blocks[b].count && sequence.issues < MOST_CALLED; i++)
            add_instruction(finder, lowering->blocks[b].first + i, &sequence);
    return sequence;
}

MachineSequence sequence_called(const Finder *finder, int i)
{
    const int at = step_of(finder, i),
              callee = finder->lowering->blocks[finder->block_of[i]].callee;

    if (at < 0 || callee < 0 || !sequence_is_quotient(&finder->code->steps[at]) ||
        flow_operation(instruction_at(finder, i)) != MACHINE_CALL)
        return (MachineSequence){ 0 };
    return sequence_of_callee(finder, callee);
}

static bool is_target(const Finder *finder, int b)
{
    for (int from = 0; from < finder->lowering->block_count; from++)
        if (finder->lowering->blocks[from].taken == b)
            return true;
    return false;
}

/* Whether only lanes whose operands are close to the limits of the range come there: to the call of
 * a subroutine, or back from it. */
static bool is_long_way(const Finder *finder, int b)
{
    const MachineBlock *blocks = finder->lowering->blocks;

    return blocks[b].callee >= 0 ||
           (b > 0 && blocks[b - 1].callee >= 0 && blocks[b - 1].next == b && !is_target(finder, b));
}

/* An operand, which the machine may load long before. */
static bool is_constant(const Finder *finder, int i)
{
    const unsigned operation = flow_operation(instruction_at(finder, i));

    return operation == MACHINE_LDC || operation == MACHINE_ULDC;
}

/* A fraction has branches, and so several blocks. Returns the number of its copies. */
static int add_fraction(const Finder *finder, int at, MachineSequence *sequence)
{
    int copies = 0;

    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
        if (!is_long_way(finder, finder->block_of[i]) && !is_constant(finder, i)) {
            add_instruction(finder, i, sequence);
            copies += finder->counterpart[i];
        }
    return copies;
}

/* Instructions of other steps in between stall the warp, too, when they are issued. */
static void add_places(const Finder *finder, const int *places, int count,
                       MachineSequence *sequence)
{
    for (int k = 0; k < count; k++) {
        const MachineSequence called = sequence_called(finder, places[k]);
        add_instruction(finder, places[k], sequence);
        sequence->stalls += called.stalls;
        sequence->waits += called.waits;
    }
}

static int rounded(int count, int copies)
{
    return (count + copies / 2) / copies;
}

MachineSequence sequence_of(const Finder *finder, int at, const int *places, int count, int copies)
{
    MachineSequence sum = { 0 };

    if (sequence_is_fraction(&finder->code->steps[at]))
        copies = add_fraction(finder, at, &sum);
    else
        add_places(finder, places, count, &sum);
    copies = copies > 0 ? copies : 1;
    return (MachineSequence){ .stalls = rounded(sum.stalls, copies),
                              .waits = rounded(sum.waits, copies),
                              .fp64 = rounded(sum.fp64, copies),
                              .issues = rounded(sum.issues, copies) };
}
