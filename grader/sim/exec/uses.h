/* uses.h - how a function uses the value that a load or an atomic returns (static analysis). */
#ifndef SIM_EXEC_USES_H
#define SIM_EXEC_USES_H

#include "sim/exec/exec.h"

/* Bits of a set. */
enum {
    USE_COMPUTES = 1,  /* operand of an instruction other than a store, guard or address */
    USE_ALL_OF_IT = 2, /* used other than by moving it or extracting bits */
    USE_STORES = 4,    /* stored to memory that outlives the block */
    USE_KEEPS = 8,     /* stored to shared or local memory */
    USE_PASSES = 16,   /* and this was to pass it to a function, or to return it */
};

/* The uses of each register, by its number, for code_make(). The caller frees it; NULL: out of
 * memory. */
uint8_t *uses_make(const Function *f);

/* The uses of element `element` (0 if not a vector) that this step of the code loads. */
int uses_of(const Code *code, const Step *step, int element);

/* True if an atom.cas expects the loaded value at the same address. In programs compiled with
 * nvcc -G, atomicCAS() is a function; then a call of one for values of this size is enough. */
bool uses_for_swap(const Module *module, const Function *f, const Instruction *load);

/* True if a load and a store have the same address, as far as their operands show. */
bool uses_one_place(const Function *f, const Instruction *load, const Instruction *store);

/* The register of that element of an operand: operand 0 of a load is its result, operand 1 of a
 * store its data. Returns -1 if it is not a register, or is unknown. */
int uses_register(const Function *f, const Instruction *in, int operand, int element);

/* Whether the operand is, or contains, the register. */
bool uses_as(const Function *f, const Instruction *in, int operand, int reg);

/* Whether the register's value may be read from this step of the code on, before it is overwritten.
 */
bool uses_later(const Code *code, int reg, int from);

#endif
