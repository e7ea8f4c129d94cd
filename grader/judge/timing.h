/* timing.h - shared parts of judging a lab's speed: the context of judge/timing_gpu.c,
 * decide_sim.c, timing_sim.c, interference.c and baselines.c. */
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
    /* Time per call of the reference before the student's process existed, and the SM clock
     * then. */
    double alone_ms[GRADE_CASES], alone_mhz[GRADE_CASES];
    double limited; /* ratio as a share of its bar for the case that result->limiter describes; 0:
                       none yet */
    const char *no_control; /* why the control cases are left out; NULL: they are not */
    const char *doing;      /* for the progress line */
} TimingContext;

Verdict timing_start_ours(TimingContext *j, Sampler *side, const char *object, GpuInfo *info);
bool timing_start_student(TimingContext *j, Sampler *student, int i); /* false: it failed */

/* Each returns true after a failure, with the verdict and its reason in the result. A failure of
 * a kernel of the workbook is a fault of the grader or of the machine: UNSOUND. */
bool timing_reference_failed(TimingContext *j, Verdict verdict);
bool timing_ours_failed(TimingContext *j, Verdict verdict, const char *who, const char *why);
bool timing_student_failed(TimingContext *j, Verdict verdict, const Sampler *student,
                           const Plan *plan);

/* Races the reference against a student's kernel on the case that both have taken up, for at
 * least `least` blocks. */
void timing_race(TimingContext *j, Sampler *student, double bar, int least, Outcome *finish);

/* Adds the timed and control cases to the result. */
void timing_list_cases(TimingContext *j);

/* timing_impossible: true if a call is faster than memory allows: the minimum bytes, minus what
 * L2 may have kept, exceed 1.05 times the peak bandwidth. timing_say_impossible: sets the
 * verdict for that. */
bool timing_impossible(const TimingContext *j, const Plan *plan, double call_ms);
void timing_say_impossible(TimingContext *j, const Plan *plan, double call_ms);

/* A kernel with a higher ratio to the reference is compared with the fastest known kernel. */
extern const double timing_remarkable;

/* The timed case to report: of those below their bar with their whole interval, the one farthest
 * below. NULL if no case is below its bar. */
const CaseSpeed *timing_slowest(const Result *result);

/* Sets the verdict that follows from the measured cases, and its sentence. */
void timing_decide(Result *result);

/* Adds a flag for a human to check, unless it is already set. */
void timing_flag(TimingContext *j, const char *flag);

#endif
