/* speed.h - the verdict that follows from the measured speeds of a correct kernel and the bars.
 *
 * A grading uses it at its end (judge/decide.c). A gradebook uses it again when a course changes
 * its bars: a stored interval that is clear of the new bar decides without another grading.
 */
#ifndef BASE_SPEED_H
#define BASE_SPEED_H

#include <stdbool.h>
#include "base/stats.h"
#include "base/verdict.h"

/* A timed case. Ratios are speeds as shares of the reference's. */
typedef struct TimedCase {
    double bar;
    bool measured;
    bool blind; /* not even rung 1 is clearly slow on the modelled device: left out */
    Interval ratio;
    double rung1;      /* 0: not measured */
    bool spares_rung1; /* lab.h: rung 1 may be fast here, so the case is never blind */
    int blocks, pairs; /* 0: modelled */
} TimedCase;

/* PASS, CLOSE, SLOW, or CORRECT_ONLY if a case was not measured. *which: the case that decides SLOW
 * or CORRECT_ONLY, else -1. Modelled ratios have no noise, so they are never CLOSE. */
Verdict speed_verdict(const TimedCase *cases, int count, int *which);

/* The case to report: of those below their bar with their whole interval, the one farthest below.
 * -1 if there is none. */
int speed_slowest(const TimedCase *cases, int count);

/* True if few blocks suffice: the whole interval is far below the bar. */
bool speed_hopeless(Interval ratio, int blocks, double bar);

/* Within this share of a bar, one pair of processes does not decide. */
extern const double speed_near_bar;

/* If rung 1 is not this far below the bar on a modelled device, the case is blind: a verdict would
 * depend on the device or its model rather than on the kernel. */
extern const double speed_separated;

/* False if the difference is only that stored bars have four decimals (docs/lines.md). */
bool speed_bar_differs(double stored, double bar);

/* Applies another bar to a case that was measured with the bar in it. Returns false if the
 * measurement cannot decide about that bar: the kernel must be graded again. */
bool speed_apply_bar(TimedCase *timed, double bar);

#endif
