/* timing_sim.c - judges the speed of a correct kernel against the lab's reference on a simulated
 * GPU.
 *
 * The reference determines the size of each case, and its call is kept (judge/modelled.h). The
 * student's kernel is called once with cold caches, and its whole result is checked. The ratio of
 * the two modelled times decides; there is no noise, so no result is too close to call.
 *
 * The kernel's counters are also compared with the bounds of the lab's mechanism, to explain why
 * it is slow, or to remark on a pass that it exceeds one. The bounds decide only where speed is not
 * judged: where a call has no modelled time, or where the modelled device is blind in all cases,
 * that is, rung 1 is not slow in any of them. If rung 1 is slow in at least one case, that case
 * decides, and the blind ones are left out.
 */
#include "judge/decide.h"
#include "judge/baselines.h"
#include "judge/counter_bounds.h"
#include "judge/message.h"
#include "judge/modelled.h"
#include "judge/outputs.h"
#include "base/speed.h"

#include <string.h>

/* From this share of a call without a running kernel on, launches are the cause. */
static const double launch_bound = 0.5;

/* ---- One case ---- */

static void record(const TimingContext *context, int i, const ModelledCall *reference,
                   const ModelledCall *call, CaseSpeed *s)
{
    Work work = context->entry->lab->work(&context->plan[i].sized);
    double ratio = reference->ms / call->ms;

    s->measured = true;
    s->ratio = (Interval){ ratio, ratio, ratio };
    s->student_ms = call->ms;
    s->reference_ms = reference->ms;
    s->gbps = work.bytes / call->ms * 1e-6;
    s->gflops = work.flops / call->ms * 1e-6;
    s->gsteps = work.steps / call->ms * 1e-6;
    s->reference_gbps = work.bytes / reference->ms * 1e-6;
    s->timed_blocks = call->timed.timed_blocks;
    s->simulated_blocks = call->timed.blocks;
    memcpy(s->dim, context->plan[i].sized.dim, sizeof s->dim);
}

/* If no kernel runs for most of the call, nothing inside a kernel explains the time. Returns false
 * if the call has one launch, or if launches are not the cause. */
static bool explain_launches(Sampler *student, const ModelledCall *call, Reason *reason)
{
    Limited limited;
    double idle;

    if (call->timed.launches < 2 || worker_limits(&student->worker, &limited) != PASS)
        return false;
    idle = limited.limits.spent.at[AT_LAUNCH] / spent_sum(&limited.limits.spent);
    if (idle > launch_bound)
        message_launches(call->timed.launches, call->ms, idle, reason->text, sizeof reason->text);
    return idle > launch_bound;
}

/* A case is explained by the first bound that it misses. */
static bool explain(TimingContext *context, Sampler *student, bool slow, Reason *reason)
{
    Verdict verdict =
        slow ? counter_bounds_explain(&student->worker) : counter_bounds_check(&student->worker);

    if (verdict != SLOW)
        return timing_student_ok(context, verdict, student);
    reason->diagnosis = student->worker.diagnosis;
    PUT(reason->text, "%s", student->worker.why);
    return true;
}

/* Notes the limiter of the case that misses its bar by most, which is the case that the verdict
 * names. Call this before any other query to the runner. */
static void note_limiter(TimingContext *context, Sampler *student, int i, double ratio)
{
    const CaseSpeed *s = &context->result->speed[i];
    const double share = ratio / s->bar;

    if (s->lab_case->kind != TIMED || share >= 1 ||
        (context->limited > 0 && share >= context->limited))
        return;
    context->limited = share;
    worker_limiter(&student->worker, context->result->limiter, sizeof context->result->limiter);
}

/* No rung may be nearer to a bar than speed_separated: judge/selfcheck.c. */
static bool separates(TimingContext *context, int i)
{
    CaseSpeed *s = &context->result->speed[i];

    if (s->lab_case->kind != TIMED || s->lab_case->spares_rung1)
        return true;
    s->floor = baseline_floor(context, i);
    if (s->floor <= s->bar - speed_separated)
        return true;
    s->unjudged = (Diagnosis){
        .saw = SAW(SAW_BLIND), .lab_case = s->lab_case, .value = s->floor, .limit = s->bar
    };
    s->floor = 0;
    return false;
}

/* A control case does not affect the verdict and may be the kernel's worst case. If it is too
 * large to simulate, that is no evidence against the kernel. */
static bool may_be_left_out(CaseSpeed *s, Verdict verdict)
{
    if (verdict != TIMEOUT || s->lab_case->kind != CONTROL)
        return false;
    s->unjudged = (Diagnosis){ .saw = SAW(SAW_TOO_LARGE), .lab_case = s->lab_case };
    return true;
}

/* A kernel that leaves the work to the host has no modelled time. If the reference does use the
 * GPU, the kernel is slow, even without a ratio. Returns false if the verdict is set. */
static bool uses_gpu(TimingContext *context, const ModelledCall *call,
                     const ModelledCall *reference, int i)
{
    const Case *lab_case = context->result->speed[i].lab_case;

    if (lab_case->kind != TIMED || !modelled_idle(call) || modelled_idle(reference))
        return true;
    context->result->verdict = SLOW;
    context->result->diagnosis = (Diagnosis){ .saw = SAW(SAW_IDLE_GPU), .lab_case = lab_case };
    message_idle(&context->result->diagnosis, context->result->why, sizeof context->result->why);
    return false;
}

/* Returns false once the verdict is set. */
static bool judge_case(TimingContext *context, Sampler *student, int i, Reason *reason)
{
    CaseSpeed *s = &context->result->speed[i];
    ModelledCall reference, call = { 0 };
    Verdict verdict;
    bool slow;

    if (!modelled_plan(context, i, &reference))
        return false;
    if (!context->plan[i].sets || !separates(context, i))
        return true;
    session_say(context->session, "%02d %s: timing, %s", lab_number(context->entry),
                lab_name(context->entry), s->lab_case->label);
    verdict = modelled_call(context, student, context->object, &context->plan[i].sized,
                            draw(context->random, DRAW_CONTENTS), &call);
    if (may_be_left_out(s, verdict))
        return true;
    if (!timing_student_ok(context, verdict, student))
        return false;
    note_limiter(context, student, i, reference.ms / call.ms);
    slow = reference.ms < s->bar * call.ms;
    if ((s->lab_case->kind == TIMED && !(slow && explain_launches(student, &call, reason)) &&
         !explain(context, student, slow, reason)) ||
        !timing_student_ok(context, outputs_check(&student->worker, 0, context->random), student) ||
        !uses_gpu(context, &call, &reference, i))
        return false;
    if (!modelled_fine(&call, &s->unjudged)) {
        s->unjudged.lab_case = s->lab_case;
        return true;
    }
    record(context, i, &reference, &call, s);
    return timing_believable(context, i, call.ms, reference.ms);
}

/* ---- The note ---- */

static void note_samples(Result *result)
{
    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->measured && s->timed_blocks < s->simulated_blocks)
            message_samples(s, result->note, sizeof result->note);
    }
}

/* Control cases do not affect the verdict, but the lessons announce them: say why one is
 * missing. */
static void note_controls(Result *result)
{
    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == CONTROL && !s->measured && s->unjudged.saw)
            message_left_out(&s->unjudged, result->note, sizeof result->note);
    }
}

/* Measures rung 1 where the marks need it, and compares remarkably fast kernels with the fastest
 * known. */
static void measure_baselines(TimingContext *context)
{
    Result *result = context->result;

    for (int i = 0; i < result->speeds; i++) {
        CaseSpeed *s = &result->speed[i];
        if (!s->measured || s->lab_case->kind != TIMED)
            continue;
        if (result->verdict == SLOW && !s->floor)
            s->floor = baseline_floor(context, i);
        if (s->ratio.median > timing_remarkable)
            baseline_check(context, i);
    }
}

void judge_modelled(Session *session, const char *reference, const char *object, Result *result,
                    Draws *random)
{
    static Reason reasons[GRADE_CASES];
    TimingContext context = { .session = session,
                              .result = result,
                              .entry = result->entry,
                              .reference_object = reference,
                              .object = object,
                              .random = random,
                              .info = session->gpu };
    Sampler student = { 0 };
    bool fine = true, decided = false;

    memset(reasons, 0, sizeof reasons);
    timing_list_cases(&context);
    for (int i = 0; fine && i < result->speeds; i++) {
        fine = judge_case(&context, &student, i, &reasons[i]);
        timing_event(&context, i);
    }
    sampler_end(&student);
    if (fine) {
        decided = decide_modelled(result, reasons);
        note_samples(result);
        note_controls(result);
        measure_baselines(&context);
    }
    sampler_end(&context.reference);
    if (fine && !decided)
        judge_mechanism(session, object, result, random);
}
