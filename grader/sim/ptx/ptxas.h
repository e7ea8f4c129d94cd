/* ptxas.h - instructions for which ptxas, the assembler behind nvcc, emits something else. */
#ifndef SIM_PTX_PTXAS_H
#define SIM_PTX_PTXAS_H

#include "sim/ptx/module.h"

/* The machine code for an instruction, where that changes counters. */
typedef enum Treatment {
    AS_WRITTEN,
    WARP_REDUCED,             /* an atomic: one lane does it for all */
    WARP_REDUCED_WITH_RESULT, /* and each lane computes what it would have read */
    ADDRESS_REDUCED,          /* an atomic: equal addresses cost no more than one */
    FUSED,                    /* an addition: with the multiplication before it, one instruction */
    ABSORBED, /* a logical operation: with the one that it goes into, one instruction */
    JOINED,   /* a shift with the addition it goes into, a test with the logic it asks */
    COPIED,   /* a copy that really needs two registers */
} Treatment;

static inline bool is_warp_reduced(Treatment treatment)
{
    return treatment == WARP_REDUCED || treatment == WARP_REDUCED_WITH_RESULT;
}

/* treatment[i]: of instruction i. They are AS_WRITTEN on entry. */
void find_treatments(const Function *function, uint8_t *treatment);

/* ---- What the parts of find_treatments() share: ptxas.c, ptxas_logic.c ---- */

/* Of a register. */
typedef struct Known {
    bool varies;
    int readers, writers;
    const Instruction *writer, *reader; /* the last ones in the text */
} Known;

/* Of logical operations that become one, all but the last are ABSORBED; a shift that becomes part
 * of an addition is JOINED, and so is a test for 0 that becomes part of a logical operation.
 * Without memory no logical operation is found. */
void find_absorbed(const Function *function, const Known *known, uint8_t *treatment);

#endif
