/* ptxas.h - what the parts of find_treatments() share: ptxas.c, ptxas_logic.c. */
#ifndef SIM_PTXAS_H
#define SIM_PTXAS_H

#include "exec.h"

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
