/* calculators.h - every calculator: a row with its inputs, and what it shows. */
#ifndef CALC_CALCULATORS_H
#define CALC_CALCULATORS_H

#include "calc/ask.h"

/* calc/access.c: one access of a warp. */
extern const Calculator sectors_calculator, banks_calculator;

/* calc/occupancy.c: what fits on an SM. */
extern const Calculator occupancy_calculator;

/* calc/bounds.c: how fast it can be at best. */
extern const Calculator waves_calculator, little_calculator, ilp_calculator, roofline_calculator,
    amdahl_calculator;

/* calc/overlap.c: copies and kernels at once. */
extern const Calculator overlap_calculator;

#endif
