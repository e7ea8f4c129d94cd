/* decide_sim.h - the verdict from modelled times. */
#ifndef JUDGE_DECIDE_SIM_H
#define JUDGE_DECIDE_SIM_H

#include "judge/grade.h"

/* Why a case is slow: a bound of the lab's mechanism that it misses; "" and 0: none. */
typedef struct Reason {
    Diagnosis diagnosis;
    char text[900];
} Reason;

/* From result->speed: SLOW if a timed case lies under its bar, with its reason if there is one;
 * PASS if all of them were measured, or one was and the others are blind; else CORRECT_ONLY
 * with the reason, and false: what the kernel does is to decide. */
bool judge_modelled_decide(Result *result, const Reason *reasons);

#endif
