/* counter_bounds.h - compares a kernel's counters on a simulated GPU with the bounds of its lab. */
#ifndef JUDGE_COUNTER_BOUNDS_H
#define JUDGE_COUNTER_BOUNDS_H

#include "judge/grade.h"

/* Compares the counters of a worker's last worker_go() with each bound of its lab. SLOW if one
 * is missed: worker->diagnosis and worker->why then name it, and the line that contributes most.
 * Otherwise PASS, or the verdict of a failure. */
Verdict counter_bounds_check(Worker *worker);

/* The same for a kernel that is slow: SLOW also if the lab is about shared memory and the kernel
 * meets the bound only because it uses none. */
Verdict counter_bounds_explain(Worker *worker);

#endif
