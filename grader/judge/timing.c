/* timing.c - shared parts of judging the speed of a kernel: starting, comparing, failures. */
#include "judge/timing.h"
#include "judge/decide.h"
#include "judge/message.h"
#include "base/util.h"

#include <string.h>

static const double budget_s = 3;

const double timing_remarkable = 1.3;

void timing_flag(TimingContext *context, const char *flag)
{
    char *flags = context->result->flags;

    if (!strstr(flags, flag))
        APPEND(context->result->flags, "%s%s", *flags ? " " : "", flag);
}

static void show_blocks(void *self, int blocks)
{
    TimingContext *context = self;

    session_say(context->session, "%02d %s: %s, block %d", lab_number(context->entry),
                lab_name(context->entry), context->doing, blocks);
}

bool timing_ours_ok(TimingContext *context, Verdict verdict, const Sampler *ours)
{
    if (verdict == PASS)
        return true;
    context->result->verdict = UNSOUND;
    message_ours_failed(ours->worker.why, context->result->why, sizeof context->result->why);
    return false;
}

bool timing_reference_ok(TimingContext *context, Verdict verdict)
{
    return timing_ours_ok(context, verdict, &context->reference);
}

Verdict timing_start(TimingContext *context, Sampler *sampler, const char *object)
{
    return sampler_start(sampler, context->session, context->entry, object, &(Setup){ 0 },
                         context->random);
}

void timing_compare(TimingContext *context, Sampler *student, double bar, int least,
                    Outcome *outcome)
{
    Comparison comparison = {
        .reference = { &context->reference, sampler_sample },
        .student = { student, sampler_sample },
        .bar = bar,
        .least = least,
        .most = 120,
        .budget_s = budget_s,
        .random = draw(context->random, DRAW_ORDER),
        .clock_mhz = sampler_clock,
        .clock_self = &context->reference,
        .progress = show_blocks,
        .progress_self = context,
    };
    compare_speed(&comparison, outcome);
}

bool timing_student_ok(TimingContext *context, Verdict verdict, const Sampler *student)
{
    Result *result = context->result;

    if (verdict == PASS)
        return true;
    result->verdict = verdict;
    result->diagnosis = student->worker.diagnosis;
    worker_reason(&student->worker, result->why, sizeof result->why);
    return false;
}

bool timing_start_student(TimingContext *context, Sampler *student)
{
    return timing_student_ok(context, timing_start(context, student, context->object), student);
}

void timing_list_cases(TimingContext *context)
{
    const Case *cases = context->entry->lab->cases;

    session_event(context->session, "event:timing");
    for (int i = 0; cases[i].label; i++)
        if (cases[i].kind == TIMED || (cases[i].kind == CONTROL && !context->session->quick)) {
            if (context->result->speeds == GRADE_CASES)
                die("lab %s has more than %d timed cases", context->entry->folder, GRADE_CASES);
            context->result->speed[context->result->speeds++] =
                (CaseSpeed){ .lab_case = &cases[i],
                             .bar = course_bar(&context->session->course, context->entry, i) };
        }
}

void timing_event(const TimingContext *context, int i)
{
    const CaseSpeed *s = &context->result->speed[i];

    if (s->measured)
        session_event(context->session, "event:speed ratio:%.5f bar:%.4f kind:%s case:%s",
                      s->ratio.median, s->bar, s->lab_case->kind == TIMED ? "timed" : "control",
                      s->lab_case->label);
}

/* A call is faster than memory allows: the minimum bytes, minus what L2 may have kept, exceed 1.05
 * times the peak bandwidth. */
static bool exceeds_memory(const TimingContext *context, double bytes, double call_ms)
{
    const double from_memory = bytes - (double) context->info.gpu.l2_bytes;

    return context->info.peak_gbps > 0 && from_memory > 0 &&
           from_memory / (call_ms * 1e-3) > 1.05e9 * context->info.peak_gbps;
}

bool timing_believable(TimingContext *context, int i, double student_ms, double reference_ms)
{
    const Plan *plan = &context->plan[i];
    const double bytes = context->entry->lab->work(&plan->sized).bytes;

    if (!exceeds_memory(context, bytes, student_ms) || exceeds_memory(context, bytes, reference_ms))
        return true;
    decide_too_fast(context->result, context->result->speed[i].lab_case, bytes / student_ms * 1e-6,
                    context->info.peak_gbps);
    return false;
}
