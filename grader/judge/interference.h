/* interference.h - was the reference slower beside the student's process than without it? */
#ifndef JUDGE_INTERFERENCE_H
#define JUDGE_INTERFERENCE_H

#include "judge/timing.h"

/* After a race of case i. True if that, or something else, is the verdict; the student's process
 * may then have been killed and started anew. */
bool interfered(TimingContext *j, Sampler *student, int i, const Outcome *finish);

#endif
