/* explain.c - where a kernel's time goes, compared with the reference: both are called once, with
 * cold caches, on the simulated GPU with modelled time. */
#include "learner/explain/explain.h"
#include "judge/modelled.h"
#include "learner/explain/explained.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double call_limit_s = 60;
static const double long_s = 10; /* after that, the line of progress says how long it takes */
enum { LAUNCH_MILLIONS = 1000 };

/* ---- What is known ---- */

double explain_ratio(const Explained *e)
{
    return e->yours.ms > 0 ? e->reference.ms / e->yours.ms : 0;
}

double explain_share(const Seen *seen, double ns)
{
    return 100 * ns / spent_sum(&seen->limited.limits.spent);
}

const Case *explain_worst(const Result *result)
{
    const CaseSpeed *worst = NULL;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->measured && s->lab_case->kind == TIMED &&
            (!worst || s->ratio.median < worst->ratio.median))
            worst = s;
    }
    return worst ? worst->lab_case : NULL;
}

Verdict explain_verdict(const Result *result)
{
    return result->verdict == UNCHANGED ? result->as_it_ran : result->verdict;
}

/* ---- Running both kernels ---- */

static void see_call(Worker *worker, const Case *sized, uint64_t seed, Seen *seen)
{
    Timing timing = { 0 };
    Verdict verdict = worker_once(worker, sized, seed, call_limit_s, &timing);

    if (verdict == PASS)
        verdict = worker_limits(worker, &seen->limited);
    seen->ms = timing.event_ms;
    while (verdict == PASS && seen->line_count < MOST_LINES &&
           worker_cost(worker, seen->line_count, &seen->lines[seen->line_count]))
        seen->line_count++;
    if (verdict == PASS && !(seen->ms > 0))
        PUT(seen->why, "nothing ran on the GPU");
    else if (verdict != PASS)
        PUT(seen->why, "%s", worker->why);
}

static uint64_t contents_of(const Explained *e)
{
    Draws random = draws_begin(e->session->seed, e->entry->folder, NULL);

    return draw(&random, DRAW_CONTENTS);
}

static void see(Explained *e, const char *object, const Case *sized, Seen *seen)
{
    Worker worker;
    const Setup setup = { .launch_millions = LAUNCH_MILLIONS, .model_time = true };
    Verdict verdict = session_load(e->session, e->entry, object, &setup, &worker);

    *seen = (Seen){ .ms = 0 };
    if (verdict == PASS)
        see_call(&worker, sized, contents_of(e), seen);
    else
        PUT(seen->why, "%s", worker.why);
    worker_end(&worker);
}

static const char *patience(const Explained *e)
{
    return now_s() - e->began_s > long_s ? " (about a minute; Ctrl-C is safe)" : "";
}

/* The size that was graded, or would be if this case were; the lab's table has the size of a case
 * that is never timed. */
static Case size_of(const Explained *e, const Case *lab_case)
{
    Case sized;

    for (int i = 0; i < e->result.speeds; i++)
        if (e->result.speed[i].lab_case == lab_case && e->result.speed[i].measured) {
            sized = *lab_case;
            memcpy(sized.dim, e->result.speed[i].dim, sizeof sized.dim);
            return sized;
        }
    modelled_size(e->session, e->entry, lab_case, &sized);
    return sized;
}

/* Runs the case, and keeps it in `e` if its ratio is the worst so far. Returns false if it could
 * not run. */
static bool see_case(Explained *e, const Case *lab_case, const char *yours, const char *reference)
{
    Explained *other = malloc(sizeof *other);
    bool fine;

    if (!other)
        die("out of host memory");
    *other = *e;
    other->lab_case = lab_case;
    other->sized = size_of(e, lab_case);
    session_say(e->session, "%02d %s: where time goes, %s%s", lab_number(e->entry),
                lab_name(e->entry), lab_case->label, patience(e));
    see(other, yours, &other->sized, &other->yours);
    if (!*other->yours.why)
        see(other, reference, &other->sized, &other->reference);
    fine = !*other->yours.why && !*other->reference.why;
    if (!e->lab_case || !fine || explain_ratio(other) < explain_ratio(e))
        *e = *other;
    free(other);
    return fine;
}

/* The case that was named; else the one with the worst measured ratio; if none was measured, the
 * worst modelled one; in a lab without timed cases, the first control case. */
static bool see_cases(Explained *e, const char *yours, const char *reference)
{
    const Case *worst = e->asked ? e->asked : explain_worst(&e->result), *shown = NULL;

    if (worst)
        return see_case(e, worst, yours, reference);
    for (const Case *c = e->entry->lab->cases; c->label; c++) {
        if (c->kind == TIMED && !see_case(e, c, yours, reference))
            return false;
        if (c->kind == CONTROL && !shown)
            shown = c;
    }
    return e->lab_case || (shown && see_case(e, shown, yours, reference));
}

/* Runs the student's kernel again, on the case that is shown. */
static void see_without(Explained *e, const char *yours)
{
    session_say(e->session, "%02d %s: what if, %s%s", lab_number(e->entry), lab_name(e->entry),
                e->lab_case->label, patience(e));
    e->without_count = whatif_choose(&e->yours.limited.limits, e->without);
    if (!whatif_run(e->session, e->entry, yours, &e->sized, contents_of(e), e->without,
                    e->without_count, e->why_not, sizeof e->why_not))
        e->without_count = 0;
}

/* ---- Both kernels ---- */

static bool is_right(const Result *result)
{
    const Verdict verdict = explain_verdict(result);

    return verdict_passed(verdict) || verdict == SLOW || verdict == CORRECT_ONLY;
}

/* Returns false if one of them does not build; grading has already reported that. */
static bool build_both(Explained *e, Build *yours, Build *reference)
{
    FileList rungs;

    list_rungs(&e->session->book, e->entry, &rungs);
    if (rungs.count < (e->rung ? e->rung : 1))
        return false;
    session_build(e->session, e->entry, rungs.path[(e->rung ? e->rung : rungs.count) - 1], NULL,
                  reference);
    session_build(e->session, e->entry, e->source, e->shown, yours);
    return yours->fault == BUILD_OK && reference->fault == BUILD_OK;
}

static bool could_not(const Explained *e)
{
    const char *why = *e->yours.why ? e->yours.why : e->reference.why;
    char text[1200];

    session_clear_line();
    print_wrapped(PUT(text, "%02d %s cannot be explained: %s", lab_number(e->entry),
                      lab_name(e->entry), *why ? why : "it has no case that is timed"),
                  4, COLUMNS);
    return false;
}

/* Grades and runs both. `yours` is the student's kernel, built. */
static bool see_both(Explained *e, Build *yours, bool *sound)
{
    static Build reference;

    e->began_s = now_s();
    PUT(e->other, e->rung ? "rung %d" : "reference", e->rung);
    grade(e->session, e->entry, e->source, e->shown, &e->result);
    *sound = e->result.verdict != UNSOUND;
    if (!is_right(&e->result)) {
        explain_print_refusal(e);
        return false;
    }
    *sound = build_both(e, yours, &reference) && see_cases(e, yours->object, reference.object);
    return *sound || could_not(e);
}

const Case *explain_case(const LabEntry *entry, const char *label)
{
    char text[1000];
    int said = 0;

    for (const Case *c = entry->lab->cases; c->label; c++)
        if (c->kind != CORRECT && !strncmp(c->label, label, strlen(label)))
            return c;
    PUT(text, "warpbook: lab %s has no case with a speed that begins with \"%.100s\"; there are:",
        lab_name(entry), label);
    for (const Case *c = entry->lab->cases; c->label; c++)
        if (c->kind != CORRECT)
            APPEND(text, "%s %s", said++ ? ";" : "", c->label);
    print_wrapped_to(stderr, text, 0, COLUMNS);
    return NULL;
}

bool explain(Session *session, const LabEntry *entry, const char *source, const char *shown,
             const Case *asked, bool *sound)
{
    static Explained e;
    static Build yours;

    e = (Explained){
        .session = session, .entry = entry, .source = source, .shown = shown, .asked = asked
    };
    if (!see_both(&e, &yours, sound))
        return false;
    see_without(&e, yours.object);
    session_clear_line();
    explain_print_all(&e);
    return true;
}

bool explain_beside(Session *session, const LabEntry *entry, const char *source, const char *shown,
                    int rung, bool *sound)
{
    static Explained e;
    static Build yours;

    e = (Explained){
        .session = session, .entry = entry, .source = source, .shown = shown, .rung = rung
    };
    if (!see_both(&e, &yours, sound))
        return false;
    session_clear_line();
    explain_print_sentences(&e);
    printf("\n");
    explain_print_table(&e);
    return true;
}
