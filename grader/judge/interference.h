/* interference.h - was the reference slower while the student's process existed? */
#ifndef JUDGE_INTERFERENCE_H
#define JUDGE_INTERFERENCE_H

#include "judge/timing.h"

/* Call this after a race of case i. True if interference, or a failure, has set the verdict. The
 * student's process may have been killed and restarted. */
bool interfered(TimingContext *j, Sampler *student, int i, const Outcome *finish);

#endif
