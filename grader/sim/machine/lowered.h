/* lowered.h - what a kernel's machine code says about each step of its PTX, whatever a launch does:
 * which steps have no instruction, which need words of the stack that PTX does not name, and the
 * order of the instructions.
 */
#ifndef SIM_MACHINE_LOWERED_H
#define SIM_MACHINE_LOWERED_H

#include "sim/exec/exec.h"
#include "sim/machine/lowering.h"

/* LDL or STL: a register that was spilled or that a called function saves. */
typedef struct StackAccess {
    uint32_t word; /* of the stack: the first 4 bytes that each lane accesses */
    uint8_t words;
    bool is_store;
    int place, block; /* of its instruction */
} StackAccess;

/* Lanes meet again (BSYNC) before the first machine instruction of a step. */
typedef struct Meeting {
    int at; /* the step */
    int of; /* the step whose line the BSYNC has: the last one before it; -1: unknown */
} Meeting;

/* A step's instruction waits for one that PTX lacks: a parameter or the address of shared memory,
 * which the machine reads where it needs it (LDC, S2UR). */
typedef struct HiddenWait {
    int at, of;  /* the steps of both */
    int between; /* cycles from the one to the other, without the wait */
} HiddenWait;

/* What a machine instruction adds to the time of its warp, if nothing else does. */
typedef struct Stall {
    int step; /* whose line it has; -1: PTX lacks it */
    int cycles;
} Stall;

/* Instructions that follow each other: how many, the cycles for which they stall their warp, how
 * many make it wait longer, and how many are on numbers of 64 bits (sim/machine/sequences.c). */
typedef struct MachineSequence {
    int issues, stalls, waits, fp64;
} MachineSequence;

/* A quotient or remainder of integers; an exact quotient, root or reciprocal, which has branches.
 */
bool sequence_is_quotient(const Step *step);
bool sequence_is_fraction(const Step *step);

typedef struct LoweredStep {
    bool has_branch;   /* one of its instructions is a branch or a call */
    bool is_absent;    /* its basic block is in the machine code, but no instruction has its line */
    bool in_registers; /* an access to an array that ptxas keeps in registers */
    int hoisted;      /* a load: the number of its copies that ptxas has moved in front of a loop */
    int block, place; /* of the machine code: the basic block that has most copies of the step's
                       * block, and the index of the step's first instruction there; place -1: it
                       * has none there */
    int issues, copies; /* instructions there, and copies of the step's block */
    int wide, high;     /* of these: products of 64 bits, and their upper halves */
    /* Loads of constants, by the step itself or of its operands: for each lane (LDC), for all
     * (ULDC). */
    int constants, uniform_constants;
    int first_place;  /* places[first_place ..]: of all `issues` */
    MachinePipe pipe; /* of its first instruction */
    int on_pipe;      /* of `issues` */
    /* registers that it reads; the same if the warp has just issued the instruction before it */
    uint8_t operands, operands_after;
    int first, count;         /* accesses[first ..] of one execution */
    MachineSequence sequence; /* of one execution */
} LoweredStep;

typedef struct Lowered {
    LoweredStep *steps; /* by step; NULL: nothing is known */
    StackAccess *accesses;
    int access_count;
    int *places; /* indices of instructions of the machine code, by step in order */
    int place_count;
    Meeting *meetings;
    int meeting_count;
    HiddenWait *waits;
    int wait_count;
    Stall *stalls;     /* by machine instruction */
    int *instructions; /* by block of the machine code: those of steps whose block it is, and of
                        * none */
    int block_count;
    uint32_t stack_words; /* the words that its accesses touch are below */
} Lowered;

/* `lowering` NULL: nothing is known. Returns false if memory ran out. Free with lowered_free. */
bool lowered_make(Lowered *lowered, const Lowering *lowering, const Code *code);
void lowered_free(Lowered *lowered);

#endif
