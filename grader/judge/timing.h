/* timing.h - one lab's speed while it is judged: what judge/timing_gpu.c, interference.c and
 * judge/baselines.c share.
 */
#ifndef JUDGE_TIMING_H
#define JUDGE_TIMING_H

#include "base/random.h"
#include "judge/grade.h"
#include "judge/sampler.h"

typedef struct Judging {
    Session *session;
    Result *result;
    const LabEntry *entry;
    const char *reference_object, *object;
    Draws *random;
    GpuInfo info;
    Contestant reference;
    Plan plan[GRADE_CASES];
    /* The reference's call before the student's process existed, and the SM clock then. */
    double alone_ms[GRADE_CASES], alone_mhz[GRADE_CASES];
    double limited; /* share of its bar that the case of result->limiter reaches; 0: none yet */
    const char *no_control; /* why the control cases are left out; NULL: they are not */
    const char *doing;      /* for the progress line */
} Judging;

Verdict judging_start_ours(Judging *j, Contestant *side, const char *object, GpuInfo *info);
bool judging_start_student(Judging *j, Contestant *student, int i); /* false: it failed */

/* True if there is trouble: the verdict and its reason are then in the result. With what is ours
 * it is the grader's fault or the machine's: UNSOUND. */
bool judging_reference_failed(Judging *j, Verdict verdict);
bool judging_ours_failed(Judging *j, Verdict verdict, const char *who, const char *why);
bool judging_student_failed(Judging *j, Verdict verdict, const Contestant *student,
                            const Plan *plan);

/* The reference and a student, on the case that both have taken up; at least so many blocks. */
void judging_race(Judging *j, Contestant *student, double bar, int least, Finish *finish);

/* The timed and control cases, into the result. */
void judging_list_cases(Judging *j);

/* Faster than memory can be: the least bytes, less what L2 may have kept, at 1.05 of the peak. And
 * the verdict that it is. */
bool judging_impossible(const Judging *j, const Plan *plan, double call_ms);
void judging_say_impossible(Judging *j, const Plan *plan, double call_ms);

/* Times the reference: is anything that we know as fast? */
extern const double judging_remarkable;

/* Of the timed cases that are below their bar, interval and all, the one that is farthest below:
 * the one to tell of. NULL: there is none. */
const CaseSpeed *judging_slowest(const Result *result);

/* The verdict that follows from the measured cases, and the sentence. */
void judging_decide(Result *result);

/* A word for a human to look at, once. */
void judging_flag(Judging *j, const char *flag);

#endif
