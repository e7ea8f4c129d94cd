/* maker.h - shared by the parts of operations_make(): sim/machine/operations.c,
 * sim/machine/registers.c, sim/machine/uniform.c, sim/machine/stack.c, sim/machine/merge.c.
 */
#ifndef SIM_MACHINE_MAKER_H
#define SIM_MACHINE_MAKER_H

#include "sim/machine/operations.h"

typedef struct OperationMaker {
    Operations *made;
    const Code *code;
    const Function *function;
    const Device *device;
    Lowered lowered;
    const Instruction **writer; /* by register: its only writer; NULL: none or several */
    bool *only_added;           /* by register: all its readers are 64-bit additions */
    bool *is_read;              /* by register: any instruction reads it */
    bool *none;                 /* by step: a branch that predicates replace */
    bool *either;               /* by step: an addition that may use either of two pipes */
    bool *varies;               /* by register: it may differ from lane to lane */
    bool *guards;               /* by register: an instruction is executed depending on it */
} OperationMaker;

/* ---- Operands (sim/machine/registers.c) ---- */

/* Returns NULL if the instruction has fewer operands. */
const Operand *operand_of(const OperationMaker *maker, const Instruction *in, int i);
/* A constant for ptxas, or in constant memory. */
bool is_known_special(Special special);
void find_addends(OperationMaker *maker);
void find_read(OperationMaker *maker); /* fills in `is_read` */
void find_writers(OperationMaker *maker);
/* Adds the registers that the instruction reads, then the ones it writes. Returns false if out of
 * memory. */
bool add_registers(OperationMaker *maker, Operation *to, const Instruction *in);
/* Adds the registers that another instruction writes. `to` must be the operation to which registers
 * were last added. */
bool add_result(OperationMaker *maker, Operation *to, const Instruction *in);
/* Adds an access to the stack for a step: a load writes one of the registers that the step reads,
 * if fewer than those loads come `behind` it before the step (so loads do not wait for each other);
 * a store reads the first one that the step writes. Returns false if out of memory. */
bool add_stack_registers(OperationMaker *maker, Operation *to, const Operation *step, int behind);
/* A return reads a register of its own: its address. Returns false if out of memory. */
bool add_return(OperationMaker *maker, Operation *to);
/* Finds the distinct 32-bit registers that an instruction computes from. */
void find_operands(const OperationMaker *maker, const Step *step, Operation *to);

/* ---- Values that all lanes share (sim/machine/uniform.c) ---- */

/* Fills in `varies`. Returns false if out of memory. */
bool find_varying(OperationMaker *maker);
/* Whether the uniform datapath computes the step, once per warp. */
bool is_uniform(const OperationMaker *maker, const Step *step);

/* ---- The stack (sim/machine/stack.c) ---- */

/* Adds the loads before steps and the stores after them. Returns false if out of memory. */
bool add_stacks(OperationMaker *maker);
/* Part of it (sim/machine/operations.c): a load of a word per lane, for no step yet. */
Operation load_from_stack(const OperationMaker *maker);

/* ---- Merging loads (sim/machine/merge.c) ---- */

/* Call it after operations are made and before stretches are found. Returns false if out of memory.
 */
bool merge_loads(OperationMaker *maker);

/* ---- Stretches (sim/machine/stretches.c) ---- */

/* Call find_stretches after loads are merged, and then find_rounds. */
void find_stretches(OperationMaker *maker);
void find_rounds(OperationMaker *maker);

/* ---- Hidden instructions (sim/machine/hidden.c) ---- */

/* Adds the issues of instructions that no step has. Call it after operations are made and loads are
 * merged. Returns false if out of memory. */
bool issue_hidden(const OperationMaker *maker);

/* ---- Waits (sim/machine/waits.c) ---- */

/* A branch that no predicate replaces. */
static inline bool is_branch(const OperationMaker *maker, int i)
{
    return maker->code->steps[i].class_ == CLASS_CONTROL && !maker->none[i];
}

/* Adds the branches to `none` that the machine code does not have. Call it before operations are
 * made. */
void find_replaced(const OperationMaker *maker);
/* Call them after operations are made. */
void issue_under_predicates(const OperationMaker *maker);
void wait_for_meetings(const OperationMaker *maker);
void wait_for_hidden(const OperationMaker *maker);
void wait_for_predicates(const OperationMaker *maker);

#endif
