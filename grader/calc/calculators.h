/* calculators.h - all calculators. */
#ifndef CALC_CALCULATORS_H
#define CALC_CALCULATORS_H

#include "calc/ask.h"

/* calc/access.c: one access of a warp. */
extern const Calculator sectors_calculator, banks_calculator;

/* calc/occupancy.c: how many blocks fit on an SM. */
extern const Calculator occupancy_calculator;

/* calc/bounds.c: upper bounds of speed. */
extern const Calculator waves_calculator, little_calculator, ilp_calculator, roofline_calculator,
    amdahl_calculator;

/* calc/overlap.c: overlapping copies and kernels. */
extern const Calculator overlap_calculator;

#endif
