/* baselines.h - other kernels of ours beside the reference: rung 1, and the fastest that we know.
 */
#ifndef JUDGE_BASELINES_H
#define JUDGE_BASELINES_H

#include "judge/timing.h"

/* What rung 1 reaches on this device in case i: where marks begin; 0 if it can't be had. Measured
 * once, then remembered in the build folder for this GPU, driver and lab. */
double baseline_floor(TimingContext *j, int i);
/* Case i was remarkably fast: flags it if nothing that we know is about as fast. */
void baseline_check(TimingContext *j, int i);

#endif
