/* interference.h - detects a reference that was slower while the student's process existed. */
#ifndef JUDGE_INTERFERENCE_H
#define JUDGE_INTERFERENCE_H

#include "judge/timing.h"

/* Call this after the speeds in case i were compared. Returns false if interference or a failure
 * has set the verdict. The student's process may have been killed and restarted. */
bool reference_undisturbed(TimingContext *context, Sampler *student, int i, const Outcome *outcome);

#endif
