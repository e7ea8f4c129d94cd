/* timing.c - shared parts of judging a lab's speed: failures, races, the verdict. */
#include "judge/timing.h"
#include "base/util.h"

#include <string.h>

static const double race_budget_s = 3;

const double timing_remarkable = 1.3;

const CaseSpeed *timing_slowest(const Result *result)
{
    const CaseSpeed *slowest = NULL;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == TIMED && s->measured && !s->blind && s->ratio.hi < s->bar &&
            (!slowest || s->ratio.median / s->bar < slowest->ratio.median / slowest->bar))
            slowest = s;
    }
    return slowest;
}

void timing_decide(Result *result)
{
    const CaseSpeed *slow = timing_slowest(result), *unjudged = NULL;
    bool close = false;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED)
            continue;
        if (!s->measured)
            unjudged = unjudged ? unjudged : s;
        else
            close |= s->ratio.lo <= s->bar && s->bar <= s->ratio.hi;
    }
    result->verdict = slow ? SLOW : unjudged ? CORRECT_ONLY : close ? CLOSE : PASS;
    if (slow || unjudged)
        result->diagnosis = (Diagnosis){ .lab_case = (slow ? slow : unjudged)->lab_case };
    if (slow)
        PUT(result->why,
            "case %s runs at %.2f of the reference's speed (%.0f of %.0f GB/s), the bar is %.2f",
            slow->lab_case->label, ratio_shown(slow->ratio.median, slow->bar, 2), slow->gbps,
            slow->reference_gbps, slow->bar);
    else if (unjudged)
        PUT(result->why, "case %s: %s", unjudged->lab_case->label, unjudged->why_not);
    else if (close)
        PUT(result->why, "too close to the bar to decide on this machine; counted as a pass");
}

void timing_flag(TimingContext *j, const char *flag)
{
    char *flags = j->result->flags;

    if (!strstr(flags, flag))
        APPEND(j->result->flags, "%s%s", *flags ? " " : "", flag);
}

static void show_blocks(void *self, int blocks)
{
    TimingContext *j = self;

    session_say(j->session, "%02d %s: %s, block %d", lab_number(j->entry), lab_name(j->entry),
                j->doing, blocks);
}

bool timing_ours_failed(TimingContext *j, Verdict verdict, const char *who, const char *why)
{
    if (verdict == PASS)
        return false;
    j->result->verdict = UNSOUND;
    PUT(j->result->why, "%s failed, which is not your fault: %s", who, why);
    return true;
}

bool timing_reference_failed(TimingContext *j, Verdict verdict)
{
    return timing_ours_failed(j, verdict, "the reference", j->reference.worker.why);
}

Verdict timing_start_ours(TimingContext *j, Sampler *side, const char *object, GpuInfo *info)
{
    return sampler_start(side, j->session, j->entry, object, j->random, info);
}

void timing_race(TimingContext *j, Sampler *student, double bar, int least, Outcome *finish)
{
    Race the_race = {
        .reference = { &j->reference, sampler_sample },
        .student = { student, sampler_sample },
        .bar = bar,
        .least = least,
        .most = 120,
        .budget_s = race_budget_s,
        .random = draw(j->random, DRAW_ORDER),
        .clock_mhz = sampler_clock,
        .clock_self = &j->reference,
        .progress = show_blocks,
        .progress_self = j,
    };
    race(&the_race, finish);
}

bool timing_student_failed(TimingContext *j, Verdict verdict, const Sampler *student,
                           const Plan *plan)
{
    if (verdict == PASS)
        return false;
    j->result->verdict = verdict;
    j->result->diagnosis = student->worker.diagnosis;
    if (verdict == WRONG || verdict == STRAY) /* these messages already name the case */
        PUT(j->result->why, "%s", student->worker.why);
    else
        PUT(j->result->why, "case %s: %s", plan->sized.label, student->worker.why);
    return true;
}

bool timing_start_student(TimingContext *j, Sampler *student, int i)
{
    GpuInfo info;

    return !timing_student_failed(
        j, sampler_start(student, j->session, j->entry, j->object, j->random, &info), student,
        &j->plan[i]);
}

void timing_list_cases(TimingContext *j)
{
    const Case *cases = j->entry->lab->cases;

    for (int i = 0; cases[i].label; i++)
        if (cases[i].kind == TIMED || (cases[i].kind == CONTROL && !j->session->quick)) {
            if (j->result->speeds == GRADE_CASES)
                die("lab %s has more than %d timed cases", j->entry->folder, GRADE_CASES);
            j->result->speed[j->result->speeds++] =
                (CaseSpeed){ .lab_case = &cases[i],
                             .bar = course_bar(&j->session->course, j->entry, i) };
        }
}

bool timing_impossible(const TimingContext *j, const Plan *plan, double call_ms)
{
    double bytes = j->entry->lab->work(&plan->sized).bytes - (double) j->info.gpu.l2_bytes;

    return j->info.peak_gbps > 0 && bytes > 0 &&
           bytes / (call_ms * 1e-3) > 1.05e9 * j->info.peak_gbps;
}

void timing_say_impossible(TimingContext *j, const Plan *plan, double call_ms)
{
    j->result->verdict = SUSPECT;
    PUT(j->result->why,
        "case %s: %.0f GB/s is more than this GPU's memory bandwidth (%.0f GB/s), so the kernel "
        "cannot have done the work",
        plan->sized.label, j->entry->lab->work(&plan->sized).bytes / call_ms * 1e-6,
        j->info.peak_gbps);
}
