/* lowered_finder.h - shared by the parts of lowered_make(): sim/machine/lowered.c,
 * sim/machine/lowered_blocks.c and sim/machine/lowered_waits.c.
 */
#ifndef SIM_MACHINE_LOWERED_FINDER_H
#define SIM_MACHINE_LOWERED_FINDER_H

#include "sim/machine/lowered.h"

typedef struct StepUse {
    int all, counterparts; /* machine instructions of its line; those that correspond one for one */
    int first, last;       /* of these, in order of address, linked by Finder.next; -1: none */
    int reciprocals;       /* of divisors so far, not made exact yet */
} StepUse;

typedef struct Finder {
    const Lowering *lowering;
    const Code *code;
    bool *starts;      /* by step: a basic block starts there */
    int *step_at;      /* by line of the PTX; -1: none */
    int lines;         /* room of step_at */
    StepUse *uses;     /* by step */
    int *next;         /* by machine instruction: the next one of the same step; -1: none */
    int *block_of;     /* by machine instruction */
    bool *counterpart; /* by machine instruction: it corresponds to its step one for one */
    int *tally;     /* by block of the machine code: counterparts of the current block of the PTX */
    int *tally_all; /* the same: all its instructions */
    int *sorted;    /* scratch */
    bool has_stack; /* an instruction accesses it */
} Finder;

static inline const MachineInstruction *instruction_at(const Finder *finder, int i)
{
    return &finder->lowering->code.instructions[i];
}

/* The step to which the line table assigns machine instruction i; -1: none. */
static inline int step_of(const Finder *finder, int i)
{
    const int line = instruction_at(finder, i)->line;

    return line > 0 && line < finder->lines ? finder->step_at[line] : -1;
}

/* ---- Steps and blocks (sim/machine/lowered_blocks.c) ---- */

enum { ANYWHERE = -2 }; /* for `block` */

/* An access to a word of the stack that step `at` does not name. */
bool is_of_stack(const Finder *finder, int at, int i);
/* Whether step `at` has instruction i only because it needs what that loads. */
bool is_aside(const Finder *finder, int at, int i);
bool lies_in(const Finder *finder, int i, int block);
/* Counts the step's instructions in a block, or ANYWHERE, without those aside. */
StepUse uses_in(const Finder *finder, int at, int block);
/* The number of counterparts that one of the steps from `first` to before `last` has, in the
 * median; 0: none of them has any. */
int counterparts_in(Finder *finder, int first, int last, int block);
/* The copies of these steps, also of steps without counterparts: the least number of instructions
 * of one of them. 0: the machine code has none. */
int copies_in(Finder *finder, int first, int last, int block);
/* The block of the machine code that has most counterparts of these steps; -1: none. If several
 * have as many, the first one, or the typical one. */
int main_block(Finder *finder, int first, int last, bool is_typical);

/* sim/machine/lowered_waits.c. They fill in `meetings`, `waits`, `stalls` and `instructions`,
 * for which there is room. */
void take_meetings(const Finder *finder, Lowered *lowered);
void take_waits(const Finder *finder, Lowered *lowered);
void take_stalls(const Finder *finder, Lowered *lowered);
void take_instructions(const Finder *finder, Lowered *lowered);

/* sim/machine/sequences.c. find_counterpart: whether instruction i stands for step `at`; called
 * once for each instruction, in order. sequence_of: all instructions of an execution of the step,
 * whose main block has these places, for so many copies. sequence_called: those of the subroutine
 * that instruction i calls for a division. */
bool find_counterpart(Finder *finder, int at, int i);
MachineSequence sequence_of(const Finder *finder, int at, const int *places, int count, int copies);
MachineSequence sequence_called(const Finder *finder, int i);

#endif
