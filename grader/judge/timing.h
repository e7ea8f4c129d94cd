/* timing.h - shared parts of judging the speed of a kernel: the context of judge/timing_gpu.c,
 * timing_sim.c, modelled.c, interference.c and baselines.c. */
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
    uint64_t no_control; /* SAW(code): why the control cases are left out; 0: they are not */
    const char *doing;   /* for the progress line */
} TimingContext;

/* Starts a process with this kernel in it; timing_start_student: with the student's, false if that
 * failed. */
Verdict timing_start(TimingContext *context, Sampler *sampler, const char *object);
bool timing_start_student(TimingContext *context, Sampler *student);

/* Returns true for PASS; otherwise false, with the verdict and its reason in the result. If one
 * of the workbook's own kernels fails, the grader or the machine is at fault: UNSOUND. */
bool timing_reference_ok(TimingContext *context, Verdict verdict);
bool timing_ours_ok(TimingContext *context, Verdict verdict, const Sampler *ours);
bool timing_student_ok(TimingContext *context, Verdict verdict, const Sampler *student);

/* Compares the speeds of the reference and a student's kernel on the case that both have prepared,
 * in at least `least` blocks. */
void timing_compare(TimingContext *context, Sampler *student, double bar, int least,
                    Outcome *outcome);

/* Adds the timed and control cases to the result, and reports as an event that timing begins. */
void timing_list_cases(TimingContext *context);

/* Reports the speed of case i as an event, if it was measured. */
void timing_event(const TimingContext *context, int i);

/* Returns false, with the verdict SUSPECT in the result, if the student's call of case i is faster
 * than memory allows. If the reference's call is, too, the driver's figure for the memory is wrong.
 */
bool timing_believable(TimingContext *context, int i, double student_ms, double reference_ms);

/* A kernel with a higher ratio to the reference is compared with the fastest known kernel. */
extern const double timing_remarkable;

/* Adds a flag for a human to check, unless it is already set. */
void timing_flag(TimingContext *context, const char *flag);

#endif
