/* map.h - which thread touches which part of an array first, and how many of its bytes move. */
#ifndef SIM_RECORD_MAP_H
#define SIM_RECORD_MAP_H

#include "sim/base/records.h"
#include "sim/exec/access.h"

/* Sets the sizes of the cells of a new array. */
void map_begin(RecordedArray *array);
/* Adds one request to global memory; offsets count from `origin`. */
void map_add(RecordedArray *array, const Access *x, uint64_t origin, int launch);

#endif
