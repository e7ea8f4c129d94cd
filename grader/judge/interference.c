/* interference.c - detects a reference that was slower while the student's process existed.
 *
 * If so, that process is killed and the reference measured again: if it recovers, the student's
 * process had interfered. Another program might have caused that by coincidence, so a kernel is
 * accused only if it happens twice.
 */
#include "judge/interference.h"
#include "judge/message.h"

#include <math.h>

/* A kernel left running next to the reference slows it by 8 % or more; the heat of an honest
 * kernel slows it by up to 2.6 % (NVIDIA H200, 2026-11-21). The threshold is between the two. */
static const double interference = 1.05;

/* Times at SM clocks that differ by more than this are not compared. */
static const double same_clock = 0.03;

/* The conclusion from the reference's times before, during and after the student's process. */
typedef enum Suspicion { NO_HARM, SLOWED_BY_STUDENT, GPU_CHANGED, REFERENCE_FAILED } Suspicion;

/* If the reference was slower during the student's process, kills that process and measures the
 * reference again. Times at a different SM clock are not compared. */
static Suspicion who_slowed(TimingContext *context, Sampler *student, int i, const Outcome *outcome)
{
    double before_ms = context->alone_ms[i], after_ms, after_mhz;
    Verdict verdict;

    if (!before_ms || outcome->reference_ms <= before_ms * interference)
        return NO_HARM;
    sampler_end(student);
    sleep_s(0.1); /* a killed context is gone after 60 ms; 15 ms later the GPU is clean */
    verdict = sampler_time_alone(&context->reference, 4, &after_ms);
    if (verdict == PASS)
        verdict = worker_clock(&context->reference.worker, &after_mhz);
    if (!timing_reference_ok(context, verdict))
        return REFERENCE_FAILED;
    if (fabs(outcome->mhz / context->alone_mhz[i] - 1) > same_clock ||
        fabs(after_mhz / context->alone_mhz[i] - 1) > same_clock)
        return GPU_CHANGED;
    return after_ms <= before_ms * (1 + (interference - 1) / 2) ? SLOWED_BY_STUDENT : GPU_CHANGED;
}

/* Compares the speed again, in a new process of the student's. Returns false once the verdict is
 * set. */
static bool compare_again(TimingContext *context, Sampler *student, int i, Outcome *again)
{
    if (!timing_start_student(context, student) ||
        !timing_student_ok(context, sampler_take_up(student, &context->plan[i]), student))
        return false;
    timing_compare(context, student, 0, 5, again);
    return again->student_failed ? timing_student_ok(context, again->verdict, student)
                                 : timing_reference_ok(context, again->verdict);
}

bool reference_undisturbed(TimingContext *context, Sampler *student, int i, const Outcome *outcome)
{
    Result *result = context->result;
    Suspicion suspicion = who_slowed(context, student, i, outcome);
    double slower = outcome->reference_ms / context->alone_ms[i] - 1;

    if (suspicion == SLOWED_BY_STUDENT) {
        Outcome again;
        if (!compare_again(context, student, i, &again))
            return false;
        suspicion = who_slowed(context, student, i, &again);
        if (suspicion == NO_HARM) /* it happened only once: the GPU itself had changed */
            suspicion = GPU_CHANGED;
    }
    if (suspicion == SLOWED_BY_STUDENT) {
        result->verdict = SUSPECT;
        result->diagnosis = (Diagnosis){ .saw = SAW(SAW_SLOWED_REFERENCE),
                                         .lab_case = result->speed[i].lab_case,
                                         .value = slower * 100 };
        message_suspect(&result->diagnosis, result->why, sizeof result->why);
        timing_flag(context, "interference");
    }
    if (suspicion == GPU_CHANGED) {
        result->verdict = CORRECT_ONLY;
        result->diagnosis = (Diagnosis){ .saw = SAW(SAW_DISTURBED),
                                         .lab_case = result->speed[i].lab_case,
                                         .value = slower * 100 };
        message_unjudged(&result->diagnosis, result->why, sizeof result->why);
    }
    return suspicion == NO_HARM;
}
