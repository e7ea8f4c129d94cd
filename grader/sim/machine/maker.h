/* maker.h - what the parts of operations_make() share: sim/machine/operations.c,
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
    bool *none;                 /* by step: a branch that is none */
    bool *either;               /* by step: an addition, on either of two pipes */
    bool *varies;               /* by register: it may differ from lane to lane */
} OperationMaker;

/* ---- Operands (sim/machine/registers.c) ---- */

/* NULL: it has not so many. */
const Operand *operand_of(const OperationMaker *maker, const Instruction *in, int i);
/* ptxas has these in constant memory, or knows them. */
bool is_known_special(Special special);
void find_addends(OperationMaker *maker);
void find_writers(OperationMaker *maker);
/* Those that the instruction reads, then those that it writes. False: no memory. */
bool add_registers(OperationMaker *maker, Operation *to, const Instruction *in);
/* And those that another one writes: `to` was the last that registers were added to. */
bool add_result(OperationMaker *maker, Operation *to, const Instruction *in);
/* Different registers of 32 bits that an instruction computes from. */
void find_operands(const OperationMaker *maker, const Step *step, Operation *to);

/* ---- Values that all lanes share (sim/machine/uniform.c) ---- */

/* Fills in `varies`. False: no memory. */
bool find_varying(OperationMaker *maker);
/* The uniform datapath computes it, once for the warp. */
bool is_uniform(const OperationMaker *maker, const Step *step);

/* ---- Loads that become one (sim/machine/merge.c) ---- */

/* After operations are made, before stretches are found. False: no memory. */
bool merge_loads(OperationMaker *maker);

#endif
