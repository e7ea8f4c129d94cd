/* baselines.h - workbook kernels other than the reference: rung 1, and the faster ones. */
#ifndef JUDGE_BASELINES_H
#define JUDGE_BASELINES_H

#include "judge/timing.h"

/* The ratio that rung 1 reaches in case i on this device, where marks begin; 0 if it cannot be
 * measured. Measured once, then kept in the build folder for this GPU, driver and lab. */
double baseline_floor(TimingContext *context, int i);
/* Flags case i, which was remarkably fast, if no known kernel is about as fast. */
void baseline_check(TimingContext *context, int i);

#endif
