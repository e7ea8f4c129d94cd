/* shape_vectors.h - which lanes of a full warp access the same word, or the same bank, as vector
 * code for AVX-512. */
#ifndef SIM_EXEC_SHAPE_VECTORS_H
#define SIM_EXEC_SHAPE_VECTORS_H

#include "sim/exec/exec.h"

bool has_shape_vectors(void); /* whether the processor can run the functions below */

/* The first lane with each value. `followed`: those whose value other lanes share. */
uint32_t first_of_narrow(const uint32_t narrow[LANES], uint32_t *followed);

/* The maximum number of these lanes in one of 32 banks, by byte addresses that are multiples of 4
 * from each other. */
int most_in_bank(const uint32_t narrow[LANES], uint32_t lanes);

#endif
