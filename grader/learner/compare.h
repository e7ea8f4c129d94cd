/* compare.h - make compare: a kernel that has passed, next to the reference. */
#ifndef LEARNER_COMPARE_H
#define LEARNER_COMPARE_H

#include "learner/command_line.h"

/* Prints where both kernels spend their time, then how their texts differ. Returns the exit status.
 * Before the lab has passed it prints nothing of the reference. */
int run_compare(Options *options);

#endif
