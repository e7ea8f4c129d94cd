/* timing.h - one lab's speed while it is judged: what judge/timing_gpu.c, interference.c and
 * judge/baselines.c share.
 */
#ifndef JUDGE_TIMING_H
#define JUDGE_TIMING_H

#include "base/random.h"
#include "judge/grade.h"
#include "judge/sampler.h"

typedef struct TimingContext {
    Session *session;
    Result *result;
    const LabEntry *entry;
    const char *reference_object, *object;
    Draws *random;
    GpuInfo info;
    Sampler reference;
    Plan plan[GRADE_CASES];
    /* The reference's call before the student's process existed, and the SM clock then. */
    double alone_ms[GRADE_CASES], alone_mhz[GRADE_CASES];
    double limited; /* share of its bar that the case of result->limiter reaches; 0: none yet */
    const char *no_control; /* why the control cases are left out; NULL: they are not */
    const char *doing;      /* for the progress line */
} TimingContext;

Verdict timing_start_ours(TimingContext *j, Sampler *side, const char *object, GpuInfo *info);
bool timing_start_student(TimingContext *j, Sampler *student, int i); /* false: it failed */

/* True if there is trouble: the verdict and its reason are then in the result. With what is ours
 * it is the grader's fault or the machine's: UNSOUND. */
bool timing_reference_failed(TimingContext *j, Verdict verdict);
bool timing_ours_failed(TimingContext *j, Verdict verdict, const char *who, const char *why);
bool timing_student_failed(TimingContext *j, Verdict verdict, const Sampler *student,
                           const Plan *plan);

/* The reference and a student, on the case that both have taken up; at least so many blocks. */
void timing_race(TimingContext *j, Sampler *student, double bar, int least, Outcome *finish);

/* The timed and control cases, into the result. */
void timing_list_cases(TimingContext *j);

/* Faster than memory can be: the least bytes, less what L2 may have kept, at 1.05 of the peak. And
 * the verdict that it is. */
bool timing_impossible(const TimingContext *j, const Plan *plan, double call_ms);
void timing_say_impossible(TimingContext *j, const Plan *plan, double call_ms);

/* Times the reference: is anything that we know as fast? */
extern const double timing_remarkable;

/* Of the timed cases that are below their bar, interval and all, the one that is farthest below:
 * the one to tell of. NULL: there is none. */
const CaseSpeed *timing_slowest(const Result *result);

/* The verdict that follows from the measured cases, and the sentence. */
void timing_decide(Result *result);

/* A word for a human to look at, once. */
void timing_flag(TimingContext *j, const char *flag);

#endif
