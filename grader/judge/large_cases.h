/* large_cases.h - runs the large cases of a trial in two processes. */
#ifndef JUDGE_LARGE_CASES_H
#define JUDGE_LARGE_CASES_H

#include "judge/trial.h"

enum { MOST_CASES = 64 };

typedef enum LargeOutcome {
    LARGE_UNKNOWN, /* not right, or not run */
    LARGE_RIGHT,
    LARGE_RIGHT_ELSEWHERE, /* in the second process: a call that the trial's worker did not see */
    LARGE_SKIPPED          /* too large to simulate */
} LargeOutcome;

/* Runs rows chosen[first] to chosen[last - 1] of the lab's cases, at the same time as a second
 * process, and sets outcome[first] to outcome[last - 1]. Their inputs are those that trial_run
 * would draw one after the other; the draws of `trial` stay. Returns false if a case is not right.
 * Then the trial must begin again: nothing is known about its worker. Does nothing, and returns
 * true, if this process may use one processor only. */
bool large_cases_run(Trial *trial, const int *chosen, int first, int last, LargeOutcome *outcome);

#endif
