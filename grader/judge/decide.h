/* decide.h - the verdict on a correct kernel, from the measurements of its cases. */
#ifndef JUDGE_DECIDE_H
#define JUDGE_DECIDE_H

#include "judge/grade.h"

/* Why a case is slow: the first bound of the lab's mechanism that it misses. Empty if it misses
 * none. */
typedef struct Reason {
    Diagnosis diagnosis;
    char text[900];
} Reason;

/* The timed case to report: of those below their bar with their whole interval, the one farthest
 * below. NULL if no case is below its bar. */
const CaseSpeed *decide_slowest(const Result *result);

/* Sets the verdict that follows from times measured on a GPU, and its sentence. */
void decide_measured(Result *result);

/* Sets the verdict that follows from modelled times. SLOW if a timed case is below its bar, with
 * its reason if there is one. PASS if all timed cases were measured, or if at least one was and
 * the others are blind; the first reason then goes into result->above and the note. Otherwise
 * CORRECT_ONLY with the reason, and returns false: the counters must then decide. */
bool decide_modelled(Result *result, const Reason *reasons);

/* A call is faster than memory allows: the verdict is SUSPECT. */
void decide_too_fast(Result *result, const Case *lab_case, double gbps, double peak_gbps);

#endif
