/* timing_gpu.c - judges the speed of a correct kernel against the lab's reference on the same GPU.
 *
 * The order of a run:
 * 1. The reference and a control, a second process with the reference, start. Sizes are chosen, and
 *    the GPU is warmed up until its clock is steady.
 * 2. The reference is compared with the control (A/A): their difference is the resolution of this
 *    machine. A noisy case has a second attempt. The control is killed.
 * 3. The student's process starts. In each timed case, the speed of the student's kernel is
 *    compared with the reference's (judge/compare_speed.h). If its events disagree with the
 *    parent's clock, or hardly a sample was steady, a new pair of processes decides. Within 1 % of
 *    the bar, five more comparisons with new processes follow, because the addresses of the buffers
 *    change a ratio by up to 0.5 %.
 * 4. If the reference was slower next to the student's process than before, that process is killed
 *    and the reference is measured again: if it recovers, the student's process had interfered.
 */
#include "judge/interference.h"
#include "judge/decide.h"
#include "judge/timing.h"
#include "judge/baselines.h"
#include "judge/outputs.h"
#include "base/speed.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 6 };               /* of processes, within speed_near_bar of the bar */
static const double noisy = 0.05; /* A/A half-width from which speed is not judged */

/* When a timed case was too noisy, we do not know how slow the kernel is, and its control case
 * could exceed the time limit. */
static const uint64_t too_noisy = SAW(SAW_NOISY);

static void leave_out(CaseSpeed *s, uint64_t saw, double value)
{
    s->unjudged = (Diagnosis){ .saw = saw, .lab_case = s->lab_case, .value = value };
}

/* Compares the reference with the control in one case, to find the resolution of this machine. */
static bool compare_ours(TimingContext *context, Sampler *control, int i, bool *is_noisy)
{
    CaseSpeed *s = &context->result->speed[i];
    Outcome outcome;

    context->doing = "reference against reference";
    if (!timing_reference_ok(context, sampler_take_up(&context->reference, &context->plan[i])) ||
        !timing_ours_ok(context, sampler_take_up(control, &context->plan[i]), control))
        return false;
    timing_compare(context, control, 0, 9, &outcome); /* 9: the interval excludes extremes */
    if (!timing_ours_ok(context, outcome.verdict,
                        outcome.student_failed ? control : &context->reference))
        return false;
    context->alone_ms[i] = outcome.reference_ms;
    context->alone_mhz[i] = outcome.mhz;
    s->resolution = fmax(fabs(outcome.ratio.hi - 1), fabs(1 - outcome.ratio.lo));
    *is_noisy = s->resolution > noisy || outcome.blocks < 9;
    return true;
}

/* Measures the resolution in every timed case. A disturbance may pass, so a noisy case has a second
 * attempt. The last case comes first, so that the reference already holds the first case's arrays
 * when the student's process starts. */
static bool judge_machine(TimingContext *context, Sampler *control)
{
    for (int i = context->result->speeds - 1; i >= 0; i--) {
        CaseSpeed *s = &context->result->speed[i];
        bool is_noisy;
        if (!context->plan[i].sets || s->lab_case->kind != TIMED)
            continue;
        if (!compare_ours(context, control, i, &is_noisy) ||
            (is_noisy && !compare_ours(context, control, i, &is_noisy)))
            return false;
        if (is_noisy) {
            leave_out(s, SAW(SAW_NOISY), s->resolution * 100);
            context->plan[i].sets = 0;
            context->no_control = too_noisy;
        }
    }
    return true;
}

static void record(const TimingContext *context, const Plan *plan, const Outcome *outcome,
                   CaseSpeed *s)
{
    Work work = context->entry->lab->work(&plan->sized);

    s->measured = true;
    s->ratio = outcome->ratio;
    s->student_ms = outcome->student_ms;
    s->reference_ms = outcome->reference_ms;
    s->gbps = work.bytes / outcome->student_ms * 1e-6;
    s->gflops = work.flops / outcome->student_ms * 1e-6;
    s->gsteps = work.steps / outcome->student_ms * 1e-6;
    s->reference_gbps = work.bytes / outcome->reference_ms * 1e-6;
    s->blocks = outcome->blocks;
    s->dropped = outcome->disturbed + outcome->unsteady;
    s->by_parent = outcome->by_parent;
    s->pairs = 1;
    memcpy(s->dim, plan->sized.dim, sizeof s->dim);
}

/* Compares the speed in one case, and checks the student's results. Returns false once the verdict
 * is set. */
static bool compare_case(TimingContext *context, Sampler *student, int i, int least,
                         Outcome *outcome)
{
    const Plan *plan = &context->plan[i];
    CaseSpeed *s = &context->result->speed[i];
    int set;

    context->doing = plan->sized.label;
    if (!timing_reference_ok(context, sampler_take_up(&context->reference, plan)) ||
        !timing_student_ok(context, sampler_take_up(student, plan), student))
        return false;
    timing_compare(context, student, s->bar, least, outcome);
    if (outcome->verdict != PASS && !outcome->student_failed)
        return timing_reference_ok(context, outcome->verdict);
    if (!timing_student_ok(context, outcome->verdict, student))
        return false;
    session_say(context->session, "%02d %s: %s, checking every element", lab_number(context->entry),
                lab_name(context->entry), plan->sized.label);
    set = (int) (draw(context->random, DRAW_PLACES) % (uint64_t) student->calls);
    return timing_student_ok(context, outputs_check(&student->worker, set, context->random),
                             student);
}

/* Checks an outcome against the GPU's peak, and flags events that disagree with the parent's
 * clock. A control case is not flagged: it does not affect the verdict, and in its few blocks
 * samples can be late at random. */
static bool believable(TimingContext *context, int i, const Outcome *outcome)
{
    if (outcome->by_parent && context->result->speed[i].lab_case->kind == TIMED)
        timing_flag(context, "clock");
    return !outcome->blocks ||
           timing_believable(context, i, outcome->student_ms, outcome->reference_ms);
}

static bool start_pair(TimingContext *context, Sampler *student)
{
    sampler_end(student);
    sampler_end(&context->reference);
    return timing_reference_ok(
               context, timing_start(context, &context->reference, context->reference_object)) &&
           timing_start_student(context, student);
}

static bool was_disturbed(const Outcome *outcome, int least)
{
    return outcome->blocks < (least < 3 ? least : 3) && !outcome->cut_short;
}

/* Compares the speed in one case. A process may reply late throughout (it happened twice with
 * honest kernels on H200s: docs/measurements.md), and a disturbance passes. So if the student's
 * events disagree with the parent's clock, or hardly a block was steady, a new pair of processes
 * decides.
 */
static bool compare_twice(TimingContext *context, Sampler *student, int i, int least,
                          Outcome *outcome)
{
    if (!compare_case(context, student, i, least, outcome))
        return false;
    if ((outcome->by_parent || was_disturbed(outcome, least)) &&
        !(start_pair(context, student) && compare_case(context, student, i, least, outcome)))
        return false;
    if (was_disturbed(outcome, least)) {
        leave_out(&context->result->speed[i], SAW(SAW_DISTURBED), 0);
        timing_flag(context, "disturbed");
        context->no_control = too_noisy;
        return true;
    }
    /* A kernel that slows the reference only looks faster. After a comparison that was cut short
     * this is not checked, because its few blocks show only noise. */
    return outcome->cut_short || reference_undisturbed(context, student, i, outcome);
}

/* Within 1 % of the bar, the addresses of the buffers decide. Five more pairs of new processes
 * run, and the median of the six medians counts. Their range misses the true median if all six
 * are on one side of it, which has a probability of 2 / 2^6, 3 %. A kernel exactly at the bar
 * gets `slow` with half that probability. */
static bool add_pairs(TimingContext *context, Sampler *student, int i)
{
    CaseSpeed *s = &context->result->speed[i];
    double medians[PAIRS] = { s->ratio.median };

    for (int pair = 1; pair < PAIRS; pair++) {
        Outcome outcome;

        if (!start_pair(context, student) || !compare_twice(context, student, i, 15, &outcome) ||
            !believable(context, i, &outcome))
            return false;
        if (s->unjudged.saw) {
            s->measured = false;
            return true;
        }
        medians[pair] = outcome.ratio.median;
        s->by_parent |= outcome.by_parent;
        s->blocks += outcome.blocks;
        s->dropped += outcome.disturbed + outcome.unsteady;
    }
    s->pairs = PAIRS;
    s->ratio = (Interval){ median(medians, PAIRS), quantile(medians, PAIRS, 0),
                           quantile(medians, PAIRS, 1) };
    return true;
}

static bool judge_case(TimingContext *context, Sampler *student, int i)
{
    CaseSpeed *s = &context->result->speed[i];
    Outcome outcome;
    bool control = s->lab_case->kind == CONTROL;

    if (!context->plan[i].sets)
        return true;
    if (control && context->no_control) {
        leave_out(s, context->no_control, 0);
        return true;
    }
    if (student->worker.child.pid <= 0 && !timing_start_student(context, student))
        return false;
    if (!compare_twice(context, student, i, control || context->session->quick ? 5 : 15, &outcome))
        return false;
    if (s->unjudged.saw)
        return true;
    if (outcome.cut_short)
        context->no_control = SAW(SAW_FAR_BELOW);
    record(context, &context->plan[i], &outcome, s);
    if (!believable(context, i, &outcome))
        return false;
    if (!control && !context->session->quick &&
        fabs(s->ratio.median - s->bar) < speed_near_bar * s->bar)
        return add_pairs(context, student, i);
    return true;
}

/* ---- All cases ---- */

/* Chooses the size of every case. */
static bool plan_cases(TimingContext *context)
{
    bool fine = true;

    for (int i = 0; fine && i < context->result->speeds; i++) {
        CaseSpeed *s = &context->result->speed[i];
        fine = timing_reference_ok(context,
                                   sampler_plan(&context->reference, s->lab_case, &context->info,
                                                &context->plan[i], &s->unjudged));
    }
    return fine;
}

/* Warms up the GPU with the last timed case, which is the first to be compared. */
static bool warm_up(TimingContext *context)
{
    for (int i = context->result->speeds - 1; i >= 0; i--)
        if (context->plan[i].sets && context->result->speed[i].lab_case->kind == TIMED)
            return timing_reference_ok(context,
                                       sampler_take_up(&context->reference, &context->plan[i])) &&
                   timing_reference_ok(context, sampler_warm_up(&context->reference));
    return true;
}

/* Starts the reference and the control, chooses sizes, warms up the GPU and judges the machine. */
static bool prepare(TimingContext *context)
{
    const char *reference = context->reference_object;
    bool with_control = !context->session->quick, fine;
    Sampler control = { 0 };

    session_say(context->session, "%02d %s: warming up the GPU", lab_number(context->entry),
                lab_name(context->entry));
    fine = timing_reference_ok(context, timing_start(context, &context->reference, reference));
    context->info = context->reference.worker.gpu;
    if (fine && with_control) {
        fine = timing_ours_ok(context, timing_start(context, &control, reference), &control);
        context->info.free_bytes = fmin(context->info.free_bytes, control.worker.gpu.free_bytes);
    }
    fine = fine && plan_cases(context) && warm_up(context) &&
           (!with_control || judge_machine(context, &control));
    if (with_control)
        sampler_end(&control);
    return fine;
}

void judge_speed(Session *session, const char *reference, const char *object, Result *result,
                 Draws *random)
{
    TimingContext context = { .session = session,
                              .result = result,
                              .entry = result->entry,
                              .reference_object = reference,
                              .object = object,
                              .random = random };
    Sampler student = { 0 };
    bool fine;

    timing_list_cases(&context);
    fine = prepare(&context);
    for (int i = 0; fine && i < result->speeds; i++) {
        fine = judge_case(&context, &student, i);
        timing_event(&context, i);
    }
    sampler_end(&student);
    if (fine)
        decide_measured(result);
    for (int i = 0; fine && i < result->speeds; i++) {
        CaseSpeed *s = &result->speed[i];
        if (!s->measured || s->lab_case->kind != TIMED)
            continue;
        if (result->verdict == SLOW)
            s->floor = baseline_floor(&context, i);
        if (s->ratio.median > timing_remarkable)
            baseline_check(&context, i);
    }
    sampler_end(&context.reference);
}
