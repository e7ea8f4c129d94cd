/* ptx_mutate.h - mutations of PTX texts, named as libFuzzer expects. */
#ifndef PTX_MUTATE_H
#define PTX_MUTATE_H

#include "fuzz.h"
#include "sim/ptx/module.h"

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

#endif
