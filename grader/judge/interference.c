/* interference.c - was the reference slower while the student's process existed?
 *
 * If so, that process is killed and the reference measured again: if it recovers, the student's
 * process had interfered. Another program might have caused that by coincidence, so a kernel is
 * accused only if it happens twice.
 */
#include "judge/interference.h"
#include "base/util.h"

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
static Suspicion who_slowed(TimingContext *j, Sampler *student, int i, const Outcome *finish)
{
    double before_ms = j->alone_ms[i], after_ms, after_mhz;
    Verdict verdict;

    if (!before_ms || finish->reference_ms <= before_ms * interference)
        return NO_HARM;
    sampler_end(student);
    sleep_s(0.1); /* a killed context is gone after 60 ms; 15 ms later the GPU is clean */
    verdict = sampler_time_alone(&j->reference, 4, &after_ms);
    if (verdict == PASS)
        verdict = worker_clock(&j->reference.worker, &after_mhz);
    if (timing_reference_failed(j, verdict))
        return REFERENCE_FAILED;
    if (fabs(finish->mhz / j->alone_mhz[i] - 1) > same_clock ||
        fabs(after_mhz / j->alone_mhz[i] - 1) > same_clock)
        return GPU_CHANGED;
    return after_ms <= before_ms * (1 + (interference - 1) / 2) ? SLOWED_BY_STUDENT : GPU_CHANGED;
}

bool interfered(TimingContext *j, Sampler *student, int i, const Outcome *finish)
{
    Suspicion suspicion = who_slowed(j, student, i, finish);
    double slower = finish->reference_ms / j->alone_ms[i] - 1;

    if (suspicion == NO_HARM || suspicion == REFERENCE_FAILED)
        return suspicion == REFERENCE_FAILED;
    if (suspicion == SLOWED_BY_STUDENT) {
        Outcome again;
        if (!timing_start_student(j, student, i) ||
            timing_student_failed(j, sampler_take_up(student, &j->plan[i]), student, &j->plan[i]))
            return true;
        timing_race(j, student, 0, 5, &again);
        if (again.trouble != PASS && !again.student_guilty)
            return timing_reference_failed(j, again.trouble);
        if (timing_student_failed(j, again.trouble, student, &j->plan[i]))
            return true;
        suspicion = who_slowed(j, student, i, &again);
    }
    if (suspicion == REFERENCE_FAILED)
        return true;
    if (suspicion == SLOWED_BY_STUDENT) {
        j->result->verdict = SUSPECT;
        PUT(j->result->why,
            "the reference took %.0f %% longer while this kernel's process existed, and recovered "
            "after that process was killed; this happened twice",
            slower * 100);
        timing_flag(j, "interference");
        return true;
    }
    j->result->verdict = CORRECT_ONLY;
    PUT(j->result->why, "the GPU became %.0f %% slower during the measurement; grade again",
        slower * 100);
    return true;
}
