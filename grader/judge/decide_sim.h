/* decide_sim.h - the verdict from modelled times. */
#ifndef JUDGE_DECIDE_SIM_H
#define JUDGE_DECIDE_SIM_H

#include "judge/grade.h"

/* Why a case is slow: the first bound of the lab's mechanism that it misses. Empty if it misses
 * none of them. */
typedef struct Reason {
    Diagnosis diagnosis;
    char text[900];
} Reason;

/* Sets the verdict from result->speed. SLOW if a timed case is below its bar, with its reason if
 * there is one. PASS if all timed cases were measured, or if at least one was and the others are
 * blind. Otherwise CORRECT_ONLY with the reason, and returns false: the counters must then
 * decide. */
bool judge_modelled_decide(Result *result, const Reason *reasons);

#endif
