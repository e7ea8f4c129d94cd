/* ptxas.h - how ptxas, the assembler that nvcc runs, changes PTX instructions. */
#ifndef SIM_PTX_PTXAS_H
#define SIM_PTX_PTXAS_H

#include "sim/ptx/module.h"

/* How the machine code for an instruction differs, where that changes counters. */
typedef enum Treatment {
    AS_WRITTEN,
    WARP_REDUCED,             /* an atomic: one lane executes it for all */
    WARP_REDUCED_WITH_RESULT, /* the same, and each lane computes the value that it would have read
                               */
    WARP_REDUCED_IF_FULL,     /* the same if all lanes are active; else as written */
    ADDRESS_REDUCED,          /* an atomic: lanes at the same address cost no more than one lane */
    FUSED,                    /* an addition: merged with the preceding multiplication */
    ABSORBED,                 /* a logical operation: merged into the one that reads it */
    JOINED, /* a shift merged into an addition, or a test merged into a logical operation */
    COPIED, /* a copy that really needs two registers */
} Treatment;

static inline bool is_warp_reduced(Treatment treatment)
{
    return treatment >= WARP_REDUCED && treatment <= WARP_REDUCED_IF_FULL;
}

/* The same for these active lanes. */
static inline bool is_warp_reduced_for(Treatment treatment, uint32_t lanes)
{
    return is_warp_reduced(treatment) && (treatment != WARP_REDUCED_IF_FULL || lanes == UINT32_MAX);
}

/* Sets treatment[i] for instruction i. All are AS_WRITTEN on entry. If `product` is not NULL, sets
 * product[i] to the multiplication that a FUSED addition i can be computed with: its sources still
 * have the same values there. Elsewhere product[i] becomes -1. */
void find_treatments(const Function *function, uint8_t *treatment, int *product);

/* ---- Shared by the parts of find_treatments(): ptxas.c and ptxas_logic.c ---- */

/* Facts about a register. */
typedef struct Known {
    bool varies;
    int readers, writers;
    const Instruction *writer, *reader; /* the last ones in text order */
} Known;

/* Where several logical operations become one, all but the last are ABSORBED. A shift that becomes
 * part of an addition is JOINED, as is a test for 0 that becomes part of a logical operation. If
 * memory runs out, no logical operations are merged. */
void find_absorbed(const Function *function, const Known *known, uint8_t *treatment);

#endif
