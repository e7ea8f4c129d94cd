/* timing_gpu.c - judges the speed of a correct kernel against the lab's reference on the same GPU.
 *
 * The order of a run: The reference and its twin start, sizes are chosen, and the GPU is warmed
 * up until its clock is steady. Reference and twin race (A/A): their difference is the
 * resolution of this machine. The twin is killed. Only then does the student's process start. Each
 * timed case is a race (judge/race.h) of reference and student. Within 1 % of the bar, five more
 * races with fresh processes follow, because the addresses of the buffers change a ratio by up
 * to 0.5 %. If the reference was slower next to the student's process than before, that process
 * is killed and the reference is measured again: if it recovers, the student's process had
 * interfered.
 */
#include "judge/interference.h"
#include "judge/timing.h"
#include "judge/baselines.h"
#include "judge/outputs.h"

#include <math.h>
#include <string.h>

static const double near_bar =
    0.01; /* as a share of the bar; nearer than this, PAIRS pairs of processes run */
enum { PAIRS = 6 };
static const double noisy = 0.05; /* A/A half-width from which speed is not judged */

/* When timing was too noisy, we do not know how slow the kernel is, and its control case could
 * exceed the time limit. */
static const char too_noisy[] = "left out, because the machine was too noisy for a timed case";

/* Races the reference against its twin on every timed case, to find the resolution of this
 * machine. The last case comes first, so that the reference already holds the first case's
 * arrays when the student's process starts. */
static bool judge_machine(TimingContext *j, Sampler *twin)
{
    for (int i = j->result->speeds - 1; i >= 0; i--) {
        CaseSpeed *s = &j->result->speed[i];
        Outcome finish;
        Verdict verdict;
        if (!j->plan[i].sets || s->lab_case->kind != TIMED)
            continue;
        j->doing = "reference against reference";
        if (timing_reference_failed(j, sampler_take_up(&j->reference, &j->plan[i])))
            return false;
        verdict = sampler_take_up(twin, &j->plan[i]);
        if (timing_ours_failed(j, verdict, "the reference's twin", twin->worker.why))
            return false;
        timing_race(j, twin, 0, 9, &finish); /* 9: the interval excludes the extremes */
        if (timing_ours_failed(j, finish.trouble, "the reference",
                               finish.student_guilty ? twin->worker.why : j->reference.worker.why))
            return false;
        j->alone_ms[i] = finish.reference_ms;
        j->alone_mhz[i] = finish.mhz;
        s->resolution = fmax(fabs(finish.ratio.hi - 1), fabs(1 - finish.ratio.lo));
        if (s->resolution > noisy || finish.blocks < 9) {
            PUT(s->why_not,
                "this machine is too noisy now: two copies of the reference differ by %.0f %%",
                s->resolution * 100);
            j->plan[i].sets = 0;
            j->no_control = too_noisy;
        }
    }
    return true;
}

static void record(const TimingContext *j, const Plan *plan, const Outcome *finish, CaseSpeed *s)
{
    Work work = j->entry->lab->work(&plan->sized);

    s->measured = true;
    s->ratio = finish->ratio;
    s->student_ms = finish->student_ms;
    s->reference_ms = finish->reference_ms;
    s->gbps = work.bytes / finish->student_ms * 1e-6;
    s->gflops = work.flops / finish->student_ms * 1e-6;
    s->reference_gbps = work.bytes / finish->reference_ms * 1e-6;
    s->blocks = finish->blocks;
    s->dropped = finish->disturbed + finish->unsteady;
    s->by_parent = finish->by_parent;
    s->pairs = 1;
    memcpy(s->dim, plan->sized.dim, sizeof s->dim);
}

/* Runs one race of one case. False once the verdict is set. */
static bool run_race(TimingContext *j, Sampler *student, int i, int least, Outcome *finish)
{
    const Plan *plan = &j->plan[i];
    CaseSpeed *s = &j->result->speed[i];
    int set;

    j->doing = plan->sized.label;
    if (timing_reference_failed(j, sampler_take_up(&j->reference, plan)))
        return false;
    if (timing_student_failed(j, sampler_take_up(student, plan), student, plan))
        return false;
    timing_race(j, student, s->bar, least, finish);
    if (finish->trouble != PASS && !finish->student_guilty)
        return !timing_reference_failed(j, finish->trouble);
    if (timing_student_failed(j, finish->trouble, student, plan) ||
        timing_student_failed(j, worker_check_guards(&student->worker), student, plan))
        return false;
    session_say(j->session, "%02d %s: %s, checking every element", lab_number(j->entry),
                lab_name(j->entry), plan->sized.label);
    set = (int) (draw(j->random, DRAW_PLACES) % (uint64_t) student->calls);
    if (timing_student_failed(j, outputs_check(&student->worker, set, j->random), student, plan))
        return false;
    if (finish->blocks < (least < 3 ? least : 3) && !finish->cut_short) {
        PUT(s->why_not, "changes of the GPU's clock or another program disturbed nearly every "
                        "sample");
        timing_flag(j, "disturbed");
        j->no_control = too_noisy;
        return true;
    }
    /* A kernel that slows the reference only looks faster. After a cut-short race this is not
     * checked, because its few blocks show only noise. */
    return finish->cut_short || !interfered(j, student, i, finish);
}

/* Checks a race's result against the GPU's peak, and flags events that disagree with the
 * parent's clock. A control case is not flagged: it does not affect the verdict, and in its few
 * blocks samples can be late at random. If the reference also exceeds the peak, the driver's
 * peak figure is wrong. */
static bool believable(TimingContext *j, int i, const Outcome *finish)
{
    const Plan *plan = &j->plan[i];

    if (finish->by_parent && j->result->speed[i].lab_case->kind == TIMED)
        timing_flag(j, "clock");
    if (!finish->blocks || !timing_impossible(j, plan, finish->student_ms) ||
        timing_impossible(j, plan, finish->reference_ms))
        return true;
    timing_say_impossible(j, plan, finish->student_ms);
    return false;
}

/* Within 1 % of the bar, the addresses of the buffers decide. Five more pairs of fresh processes
 * run, and the median of the six medians counts. Their range misses the true median if all six
 * are on one side of it, which has a probability of 2 / 2^6, 3 %. A kernel exactly at the bar
 * gets `slow` with half that probability. */
static bool add_pairs(TimingContext *j, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    double medians[PAIRS] = { s->ratio.median };

    for (int pair = 1; pair < PAIRS; pair++) {
        Sampler student = { 0 };
        Outcome finish;
        bool fine;
        GpuInfo info;

        sampler_end(&j->reference);
        if (timing_reference_failed(
                j, timing_start_ours(j, &j->reference, j->reference_object, &info)))
            return false;
        fine = timing_start_student(j, &student, i) && run_race(j, &student, i, 15, &finish);
        sampler_end(&student);
        if (!fine || !believable(j, i, &finish))
            return false;
        if (s->why_not[0]) {
            s->measured = false;
            return true;
        }
        medians[pair] = finish.ratio.median;
        s->by_parent |= finish.by_parent;
        s->blocks += finish.blocks;
        s->dropped += finish.disturbed + finish.unsteady;
    }
    s->pairs = PAIRS;
    s->ratio = (Interval){ median(medians, PAIRS), quantile(medians, PAIRS, 0),
                           quantile(medians, PAIRS, 1) };
    return true;
}

static bool judge_case(TimingContext *j, Sampler *student, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    Outcome finish;
    bool control = s->lab_case->kind == CONTROL;

    if (!j->plan[i].sets)
        return true;
    if (control && j->no_control) {
        PUT(s->why_not, "%s", j->no_control);
        return true;
    }
    if (student->worker.child.pid <= 0 && !timing_start_student(j, student, i))
        return false;
    if (!run_race(j, student, i, control || j->session->quick ? 5 : 15, &finish))
        return false;
    if (s->why_not[0])
        return true;
    if (finish.cut_short)
        j->no_control = "left out, because the kernel is already far below the bar";
    record(j, &j->plan[i], &finish, s);
    if (!believable(j, i, &finish))
        return false;
    if (!control && !j->session->quick && fabs(s->ratio.median - s->bar) < near_bar * s->bar) {
        sampler_end(student);
        return add_pairs(j, i);
    }
    return true;
}

/* ---- All cases ---- */

/* Starts the reference and its twin, chooses sizes, warms up the GPU and judges the machine. */
static bool prepare(TimingContext *j)
{
    Sampler twin = { 0 };
    GpuInfo info;
    bool with_twin = !j->session->quick, fine;

    session_say(j->session, "%02d %s: warming up the GPU", lab_number(j->entry),
                lab_name(j->entry));
    fine = !timing_reference_failed(
        j, timing_start_ours(j, &j->reference, j->reference_object, &j->info));
    if (fine && with_twin) {
        fine = !timing_ours_failed(j, timing_start_ours(j, &twin, j->reference_object, &info),
                                   "the reference", twin.worker.why);
        j->info.free_bytes = fmin(j->info.free_bytes, info.free_bytes);
    }
    for (int i = 0; fine && i < j->result->speeds; i++) {
        CaseSpeed *s = &j->result->speed[i];
        fine =
            !timing_reference_failed(j, sampler_plan(&j->reference, s->lab_case, &j->info,
                                                     &j->plan[i], s->why_not, sizeof s->why_not));
    }
    for (int i = j->result->speeds - 1; fine && i >= 0; i--)
        if (j->plan[i].sets && j->result->speed[i].lab_case->kind == TIMED) {
            fine = !timing_reference_failed(j, sampler_take_up(&j->reference, &j->plan[i])) &&
                   !timing_reference_failed(j, sampler_warm_up(&j->reference));
            break;
        }
    if (fine && with_twin)
        fine = judge_machine(j, &twin);
    if (with_twin)
        sampler_end(&twin);
    return fine;
}

void judge_speed(Session *session, const char *reference, const char *object, Result *result,
                 Draws *random)
{
    TimingContext j = { .session = session,
                        .result = result,
                        .entry = result->entry,
                        .reference_object = reference,
                        .object = object,
                        .random = random };
    Sampler student = { 0 };
    bool fine;

    timing_list_cases(&j);
    fine = prepare(&j);
    for (int i = 0; fine && i < result->speeds; i++)
        fine = judge_case(&j, &student, i);
    sampler_end(&student);
    if (fine)
        timing_decide(result);
    for (int i = 0; fine && i < result->speeds; i++) {
        CaseSpeed *s = &result->speed[i];
        if (!s->measured || s->lab_case->kind != TIMED)
            continue;
        if (result->verdict == SLOW)
            s->floor = baseline_floor(&j, i);
        if (s->ratio.median > timing_remarkable)
            baseline_check(&j, i);
    }
    sampler_end(&j.reference);
}
