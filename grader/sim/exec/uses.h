/* uses.h - how a function uses the value that a load or an atomic returns (static analysis). */
#ifndef SIM_EXEC_USES_H
#define SIM_EXEC_USES_H

#include "sim/exec/exec.h"

/* Sums of these. */
enum {
    USE_COMPUTES = 1,  /* operand of an instruction other than a store, guard or address */
    USE_ALL_OF_IT = 2, /* by more than moving it or extracting bits of it */
    USE_STORES = 4,    /* stored to memory that outlives the block */
    USE_KEEPS = 8,     /* stored to shared or local memory */
};

/* Of each register, by its number: for code_make(). For the caller to free; NULL: no memory. */
uint8_t *uses_make(const Function *f);

/* Of element `element` (0 but of vectors) of what the step of that code loads. */
int uses_of(const Code *code, const Step *step, int element);

/* Whether it is what an atom.cas expects at the same address. */
bool uses_for_swap(const Function *f, const Instruction *load);

/* Whether a load and a store have the same address, as far as their operands tell. */
bool uses_one_place(const Function *f, const Instruction *load, const Instruction *store);

/* The register of that element of an operand: of a load's 0, what it gives; of a store's 1, what it
 * stores. -1: it is none, or not to be known. */
int uses_register(const Function *f, const Instruction *in, int operand, int element);

#endif
