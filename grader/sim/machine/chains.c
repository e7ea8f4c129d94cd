/* chains.c - for how long a sequence of instructions, such as a division, occupies its pipe, and
 * when its result is there.
 */
#include "sim/machine/corrections.h"
#include "sim/machine/maker.h"

enum { LEAST_ISSUES = 8 }; /* of a sequence that is taken from the machine code */

/* The cycles from the first instruction of a sequence to its result: as the machine code has them,
 * or else estimated. Copies that ptxas has put side by side share the stalls. */
static int chain_cycles(const OperationMaker *maker, const Correction *correction,
                        const LoweredStep *lowered)
{
    const Device *device = maker->device;
    const Sequence *sequence = &correction->sequence;
    const MachineSequence *known = &lowered->sequence;
    const int estimate = sequence->sfu * device->sfu_latency +
                         sequence->fp64 * device->fp64_latency +
                         sequence->alu * device->alu_latency;

    if (lowered->place < 0 || correction->issues < LEAST_ISSUES)
        return estimate;
    const int cycles = known->stalls + known->waits * device->sfu_latency;
    return lowered->copies > 1 && cycles < estimate ? estimate : cycles;
}

/* `latency` is what remains of the chain after the pipe's last cycle. */
static void set_chain(int chain, Operation *to)
{
    const int left = chain - (to->busy - to->cycles);

    to->latency = (uint16_t) (left > UINT16_MAX   ? UINT16_MAX
                              : left > to->cycles ? left
                                                  : to->cycles);
}

/* Of an FMA in a sequence, which reads three operands of two words. */
static int fp64_cycles(const Device *device, const Operation *of)
{
    const int reading = (2 * 3 + device->register_reads - 1) / device->register_reads;

    return reading > of->cycles ? reading : of->cycles;
}

void set_sequence(const OperationMaker *maker, const Correction *correction,
                  const LoweredStep *lowered, Operation *to)
{
    const int issues = to->issues < correction->issues ? to->issues : correction->issues;
    const int on_pipe = correction->sequence.on_pipe * issues / correction->issues;
    const int fp64 = lowered->sequence.fp64 * fp64_cycles(maker->device, to);

    if (fp64)
        to->busy = (uint16_t) fp64;
    else if (correction->sequence.on_pipe)
        to->busy = (uint16_t) (on_pipe * to->cycles);
    set_chain(chain_cycles(maker, correction, lowered), to);
}
