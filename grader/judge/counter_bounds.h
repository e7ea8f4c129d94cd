/* counter_bounds.h - what a kernel does, on a simulated GPU, beside what the lab's lesson asks for.
 */
#ifndef JUDGE_COUNTER_BOUNDS_H
#define JUDGE_COUNTER_BOUNDS_H

#include "judge/grade.h"

/* Holds what a worker's last go did against each bound of its lab. SLOW: one is missed, and
 * worker->diagnosis and worker->why say which, with the line that is most to blame. Else PASS, or
 * what went wrong. */
Verdict counter_bounds_check(Worker *worker);

#endif
