/* operations.h - the machine instructions of each step of PTX: number, pipe, registers. */
#ifndef SIM_MACHINE_OPERATIONS_H
#define SIM_MACHINE_OPERATIONS_H

#include "sim/device/device.h"
#include "sim/exec/exec.h"
#include "sim/base/limiter.h"
#include "sim/machine/lowered.h"

enum { MOST_STEPS = 2048 }; /* that are put in order together */

/* Each scheduler has its own pipes, except for the load/store unit, which belongs to the SM. It has
 * one row for warps of the oldest block and one for younger ones. */
typedef enum Pipe {
    PIPE_FMA,
    PIPE_IMAD, /* integer multiplication, where it does not occupy all of PIPE_FMA */
    PIPE_ALU,
    PIPE_UNIFORM, /* values that are computed once for all lanes */
    PIPE_FP64,
    PIPE_FP16,
    PIPE_SFU,
    PIPE_BRANCH,
    PIPE_LSU,
    PIPE_LSU_LATER,
    PIPES
} Pipe;

typedef enum Action {
    NO_INSTRUCTION, /* no instruction: its result is ready as soon as its sources are */
    DO_COMPUTE,
    DO_BRANCH,
    DO_SEQUENCE, /* computes; on the way it branches, so its warp waits for its result */
    DO_BARRIER,
    DO_FENCE,   /* waits for the warp's stores */
    DO_SHUFFLE, /* by the load/store unit */
    DO_ACCESS,  /* load, store, atomic: described by its words in the trace */
    DO_LOCAL,   /* constants and parameters in memory: assumed to hit the L1 */
    DO_STACK,   /* a word of the stack that PTX does not name */
    DO_COPY,    /* cp.async */
    DO_COMMIT,
    DO_WAIT
} Action;

/* Far: global memory; near: shared and local. */
typedef enum MemoryUse {
    MEMORY_NONE,
    MEMORY_FAR_LOAD,
    MEMORY_FAR_STORE, /* also atomics */
    MEMORY_NEAR,
    MEMORY_ORDERED /* volatile and other ordered accesses */
} MemoryUse;

enum { MOST_OPERANDS = 3 };

typedef struct Operation {
    uint8_t action, pipe, memory;
    uint8_t issues;   /* number of instructions */
    uint8_t cycles;   /* for which one instruction occupies its pipe */
    uint16_t busy;    /* the same of all its instructions */
    uint16_t latency; /* to the result, from the cycle in which `busy` has `cycles` left */
    uint8_t reads, writes;
    uint32_t first;     /* registers[first ..]: those read, then those written */
    uint16_t straight;  /* steps from this one to the end of its stretch (sim/time/plan.c) */
    uint16_t skips;     /* a branch that predicates replace: steps behind it that it skips */
    uint8_t wavefronts; /* minimum number, for shared memory */
    bool past_l1;       /* a load that does not use the L1 */
    bool votes;         /* a barrier whose warps read a result */
    uint8_t hoisted; /* a load: the number of its copies that ptxas has moved in front of a loop */
    uint16_t hoisted_first; /* of these, among all such copies */
    int keep;               /* DO_WAIT: groups that may still be in flight */
    uint8_t part, whole; /* it is issued in `part` of `whole` executions: ptxas unrolled the loop */
    int block, place;    /* in the machine code, as of LoweredStep; place -1: unknown */
    int first_place, place_count; /* places[first_place ..]: of all copies in the block */
    uint8_t holds;     /* at least this many cycles pass before its scheduler issues again */
    uint8_t constants; /* loads of constants for it */
    bool is_single;    /* the machine code has one copy of its basic block */
    uint8_t rounds; /* of a loop whose first step this is: those that the machine code does in one
                     * of its own; 1: it is no such step */
    uint16_t held;  /* cycles by which machine instructions that PTX lacks hold it up */
    StackAccess access; /* DO_STACK */
    /* stack[stack_first ..]: what is loaded before the step, then what is stored after it */
    uint32_t stack_first;
    uint8_t loads_before, stores_after;
    uint8_t operand_words; /* of 32 bits, of which a limited number is read per cycle */
    bool is_known;         /* from the machine code, as are the next two */
    uint8_t machine_operands, machine_operands_after;
    uint8_t operand_count; /* operands read from the register file, if it computes */
    uint32_t operands[MOST_OPERANDS];
    uint8_t issue_limit,
        unit_limit;      /* the limits to which its issue, and waiting for its pipe, are charged */
    uint32_t spent_step; /* from `spent` to the same of the next SM */
    Spent *spent;        /* scheduler cycles spent on it or waiting for it, on the first SM */
} Operation;

/* The operations of one code. Registers are numbered from 0. */
typedef struct Operations {
    const Code *code;
    Operation *operations; /* one per step, and one for the end of the code */
    Operation *stack;      /* accesses to the stack */
    Spent *spent;          /* [sm * (step_count + 1) + step] */
    uint32_t *registers;
    int *places;
    Stall *stalls; /* as of Lowered; NULL: unknown */
    int register_count, register_room;
    int first_register;   /* the first register number of this code */
    int registers_used;   /* by its steps; the last one is the address of its return */
    int hoisted;          /* copies of loads that ptxas has moved in front of a loop */
    int registers_spare;  /* after these, for results of several rounds (sim/time/rounds.c) */
    uint32_t stack_words; /* that `stack` accesses */
} Operations;

/* `lowering`: the machine code; NULL: unknown. Returns false if out of memory. */
bool operations_make(Operations *made, const Code *code, const Device *device, int first_register,
                     const Lowering *lowering);
void operations_free(Operations *made);

#endif
