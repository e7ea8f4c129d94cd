/* ptxas.h - what the parts of find_treatments() share: ptxas.c, ptxas_logic.c. */
#ifndef SIM_PTXAS_H
#define SIM_PTXAS_H

#include "exec.h"

/* Of a register. */
typedef struct Known {
    bool varies;
    int readers, writers;
    const Instruction *writer; /* the last one in the text */
} Known;

/* Of logical operations that become one, all but the last are ABSORBED. Without memory none is
 * found. */
void find_absorbed(const Function *function, const Known *known, uint8_t *treatment);

#endif
