/* maker.h - shared by the parts of operations_make(): sim/machine/operations.c,
 * sim/machine/registers.c, sim/machine/uniform.c, sim/machine/merge.c.
 */
#ifndef SIM_MACHINE_MAKER_H
#define SIM_MACHINE_MAKER_H

#include "sim/machine/operations.h"

typedef struct OperationMaker {
    Operations *made;
    const Code *code;
    const Function *function;
    const Device *device;
    const Instruction **writer; /* by register: its only one; NULL */
    bool *only_added;           /* by register: its readers add it to 64 bits, and nothing else */
    bool *none;                 /* by step: a branch that predicates replace */
    bool *either;               /* by step: an addition, on either of two pipes */
    bool *varies;               /* by register: it may differ from lane to lane */
} OperationMaker;

/* ---- Operands (sim/machine/registers.c) ---- */

/* NULL: the instruction has fewer operands. */
const Operand *operand_of(const OperationMaker *maker, const Instruction *in, int i);
/* ptxas knows these, or reads them from constant memory. */
bool is_known_special(Special special);
void find_addends(OperationMaker *maker);
void find_writers(OperationMaker *maker);
/* Adds the registers that the instruction reads, then those that it writes. False: out of memory.
 */
bool add_registers(OperationMaker *maker, Operation *to, const Instruction *in);
/* Adds those that another instruction writes; `to` must be the last operation that got registers.
 */
bool add_result(OperationMaker *maker, Operation *to, const Instruction *in);
/* Different registers of 32 bits that an instruction computes from. */
void find_operands(const OperationMaker *maker, const Step *step, Operation *to);

/* ---- Values that all lanes share (sim/machine/uniform.c) ---- */

/* Fills in `varies`. False: no memory. */
bool find_varying(OperationMaker *maker);
/* The uniform datapath computes it, once for the warp. */
bool is_uniform(const OperationMaker *maker, const Step *step);

/* ---- Loads that are merged (sim/machine/merge.c) ---- */

/* After operations are made, before stretches are found. False: no memory. */
bool merge_loads(OperationMaker *maker);

#endif
