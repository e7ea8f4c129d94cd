/* counter_bounds.h - compares a kernel's counters on a simulated GPU with the bounds of its lab. */
#ifndef JUDGE_COUNTER_BOUNDS_H
#define JUDGE_COUNTER_BOUNDS_H

#include "judge/grade.h"

/* Compares the counters of a worker's last worker_go() with each bound of its lab. SLOW if one
 * is missed: worker->diagnosis and worker->why then name it, and the line that contributes most.
 * Otherwise PASS, or the verdict of a failure. */
Verdict counter_bounds_check(Worker *worker);

#endif
