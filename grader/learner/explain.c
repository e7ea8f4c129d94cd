/* explain.c - where a kernel's time goes, compared with the reference: both are called once, with
 * cold caches, on the simulated GPU with modelled time. */
#include "learner/explain.h"
#include "judge/modelled.h"
#include "judge/outputs.h"
#include "learner/ladder_place.h"
#include "learner/see/text.h"
#include "learner/whatif.h"
#include "base/remedy.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double call_limit_s = 60;
static const double long_s = 10; /* after that, the line of progress says how long it takes */
enum { LAUNCH_MILLIONS = 1000, MOST_LINES = 3, COLUMNS = 80, SOURCE = 66 };

/* One kernel on one case. */
typedef struct Seen {
    double ms;
    Limited limited;
    LineCost lines[MOST_LINES];
    int line_count;
    char why[900]; /* why it could not be run */
} Seen;

typedef struct Explained {
    Session *session;
    const LabEntry *entry;
    const char *source, *shown;
    Result result;
    const Case *lab_case; /* the lab's row */
    Case sized;
    Seen yours, reference;
    WhatIf without[CAUSES]; /* your call without one cause each */
    int without_count;
    char why_not[400]; /* why these could not be run */
    double began_s;    /* by now_s() */
    int rung;          /* of the kernel next to it, counted from 1; 0: the reference */
    char other[20];    /* "reference", "rung 2" */
} Explained;

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

static double ratio_of(const Explained *e)
{
    return e->yours.ms > 0 ? e->reference.ms / e->yours.ms : 0;
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
    if (!e->lab_case || !fine || ratio_of(other) < ratio_of(e))
        *e = *other;
    free(other);
    return fine;
}

/* The timed case with the worst measured ratio; NULL if none was measured. */
static const Case *worst_of(const Result *result)
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

/* The case with the worst measured ratio; if none was measured, the worst modelled one; in a lab
 * without timed cases, the first control case. */
static bool see_cases(Explained *e, const char *yours, const char *reference)
{
    const Case *cases = e->entry->lab->cases, *shown = NULL, *worst = worst_of(&e->result);

    if (worst)
        return see_case(e, worst, yours, reference);
    for (const Case *c = cases; c->label; c++) {
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

/* ---- The table ---- */

static void row(const char *label, const char *yours, const char *reference)
{
    printf("%-42s %14s %14s\n", label, yours, reference);
}

static void row_of_time(const Explained *e)
{
    char yours[32], reference[32];

    row("time of a call, modelled", PUT(yours, "%.2f us", e->yours.ms * 1e3),
        PUT(reference, "%.2f us", e->reference.ms * 1e3));
}

/* A share in %. */
static double share(const Seen *seen, double ns)
{
    return 100 * ns / spent_sum(&seen->limited.limits.spent);
}

static void row_of_shares(const char *label, double yours, double reference)
{
    char left[32], right[32];

    row(label, PUT(left, "%.1f %%", yours), PUT(right, "%.1f %%", reference));
}

/* Sorted by the student's share, without rows below 1 % on both sides. */
static void rows_of_limits(const Explained *e)
{
    Spent left = e->yours.limited.limits.spent;
    char label[60];

    for (int i = 0; i < LIMITS; i++) {
        const Limit limit = spent_most(&left);
        const double yours = share(&e->yours, left.at[limit]);
        const double reference = share(&e->reference, e->reference.limited.limits.spent.at[limit]);
        if (left.at[limit] >= 0 && (yours >= 1 || reference >= 1))
            row_of_shares(PUT(label, "  %s", limit_words[limit]), yours, reference);
        left.at[limit] = -1;
    }
}

/* Rows of at least 10 % on either side, under a heading. */
static void rows_of(const Explained *e, const char *head, const char *const *words,
                    const double *yours, const double *reference, int count)
{
    char label[60];

    for (int i = 0, rows = 0; i < count; i++) {
        const double left = share(&e->yours, yours[i]);
        const double right = share(&e->reference, reference[i]);
        if (left < 10 && right < 10)
            continue;
        if (!rows++)
            printf("%s\n", head);
        row_of_shares(PUT(label, "  %s", words[i]), left, right);
    }
}

static void say_intensity(const Roofline *roof, char *text, size_t size)
{
    if (roof->is_cached)
        put(text, size, "all in L2");
    else
        put(text, size, "%.3g", roof->intensity);
}

static void say_ridge(const Roofline *roof, char *text, size_t size)
{
    if (roof->is_cached)
        put(text, size, "-");
    else
        put(text, size, "%.3g", roof->intensity / roof->ridge);
}

static void rows_of_roofline(const Explained *e)
{
    const Limited *a = &e->yours.limited, *b = &e->reference.limited;
    const Roofline left = roofline_of(&a->limits, a->fp32_tflops, a->memory_gbps);
    const Roofline right = roofline_of(&b->limits, b->fp32_tflops, b->memory_gbps);
    char label[60], yours[32], reference[32];

    if (a->limits.flops <= 0 && b->limits.flops <= 0) { /* the ridge compares FP32 with memory */
        row_of_shares("roofline: share of the (theoretical) roof reached", 100 * left.reached,
                      100 * right.reached);
        return;
    }
    say_intensity(&left, yours, sizeof yours);
    say_intensity(&right, reference, sizeof reference);
    row("roofline: FP32 operations per byte of DRAM", yours, reference);
    say_ridge(&left, yours, sizeof yours);
    say_ridge(&right, reference, sizeof reference);
    row(PUT(label, "  relative to the ridge at %.3g", left.ridge), yours, reference);
    row_of_shares("  share of the (theoretical) roof reached", 100 * left.reached,
                  100 * right.reached);
}

/* How busy a unit is says little about what it costs: it may be busy while others decide. Next to
 * the shares above, that would be a second figure for DRAM. */
static void rows_of_units(const Explained *e)
{
    char names[LIMITS][60];
    const char *words[LIMITS];

    for (int i = 0; i < LIMITS; i++)
        words[i] = PUT(names[i], "busy: %s", limit_words[i]);
    rows_of(e, "share of that time in which a unit works, even while another one decides", words,
            e->yours.limited.limits.busy, e->reference.limited.limits.busy, LIMITS);
}

static void print_table(const Explained *e)
{
    const Limits *a = &e->yours.limited.limits, *b = &e->reference.limited.limits;

    row("", "yours", e->other);
    row_of_time(e);
    printf("share of that time that each limit takes; they add up to 100 %%\n");
    rows_of_limits(e);
    printf("  (a unit that is busy while another one decides may have a small share)\n");
    rows_of(e, "of that time, schedulers that have warps wait for", wait_words, a->waits, b->waits,
            WAITS);
    if (e->session->verbose)
        rows_of_units(e);
    rows_of_roofline(e);
}

/* ---- Lines ---- */

static double each(double all, double count)
{
    return count > 0 ? all / count : 0;
}

/* "loads 32.0 sectors per request, 4.0 would hold the data" */
static void say_sectors(const char *what, const LineTraffic *t, char *text, size_t size)
{
    const double least = t->asked / 32;

    if (t->requests <= 0)
        return;
    append(text, size, "%s%s: %.1f sectors per request on average", *text ? "; " : "", what,
           each(t->passes, t->requests));
    if (t->passes > 1.2 * least && least > 0)
        append(text, size, ", %.1f would hold the data", each(least, t->requests));
}

void explain_line(const LineCost *cost, char *text, size_t size)
{
    const LineTraffic *s = &cost->shared;
    const double lanes = each(cost->lanes, cost->instructions);

    *text = 0;
    say_sectors("loads", &cost->load, text, size);
    say_sectors("stores", &cost->store, text, size);
    say_sectors("atomics", &cost->atomic, text, size);
    if (s->requests > 0)
        append(text, size, "%sshared memory %.1f wavefronts per request", *text ? "; " : "",
               each(s->passes, s->requests));
    if (s->requests > 0 && s->passes > 1.2 * s->asked)
        append(text, size, ", %.1f without bank conflicts", each(s->asked, s->requests));
    if (lanes > 0 && lanes < 28)
        append(text, size, "%s%.1f of 32 lanes active in this line", *text ? "; " : "", lanes);
}

/* Copies line `number` of a text, trimmed and without control characters; "" if there is no such
 * line. */
static void take_line(const char *text, int number, char *line, size_t size)
{
    size_t length;

    *line = 0;
    for (; text && number > 1; number--) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (!text)
        return;
    text += strspn(text, " \t");
    length = strcspn(text, "\r\n");
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    put(line, size, "%.*s%s", length > SOURCE ? SOURCE - 3 : (int) length, text,
        length > SOURCE ? "..." : "");
    for (char *at = line; *at; at++)
        if ((unsigned char) *at < ' ' || *at == 127)
            *at = '?';
}

static void print_lines(const Explained *e)
{
    static const double least = 3; /* % */
    const Seen *seen = &e->yours;
    char *text = read_file(e->source, 256 << 10, NULL);
    double shown = 0;

    if (seen->line_count && share(seen, spent_sum(&seen->lines[0].spent)) >= least)
        printf("Your lines that cost most\n");
    for (int i = 0; i < seen->line_count; i++) {
        const LineCost *cost = &seen->lines[i];
        char line[4 * SOURCE], did[400];
        const double part = share(seen, spent_sum(&cost->spent));
        if (part < least)
            break;
        printf("  %5.1f %%  kernel.cu:%d, mostly %s\n", part, cost->line,
               limit_words[spent_most(&cost->spent)]);
        take_line(text, cost->line, line, sizeof line);
        if (*line)
            printf("           %s\n", line);
        explain_line(cost, did, sizeof did);
        if (*did)
            print_wrapped(did, 11, COLUMNS);
        shown += part;
    }
    if (shown > 0 && shown < 50)
        printf("  %5.1f %%  other lines, including those of headers\n", 100 - shown);
    free(text);
}

/* ---- Output ---- */

/* make grade and make see take the same size; make quiz and make draw take the smallest one that is
 * timed, which needs no reference, so it is named. */
static const char *why_this_size(const Explained *e)
{
    if (e->lab_case->kind != TIMED)
        return "the lab's first control case, since this lab judges no speed; the size of make "
               "grade";
    if (worst_of(&e->result))
        return "the slowest in grading, at the size of make grade (make quiz and make draw may "
               "take a smaller one)";
    return "the slowest as modelled, at the size of make grade";
}

static void print_head(const Explained *e)
{
    char text[500], sizes[120];

    PUT(text, "%02d %s, case %s, %s", lab_number(e->entry), lab_name(e->entry), e->lab_case->label,
        case_size(e->entry->lab, &e->sized, sizes, sizeof sizes));
    APPEND(text, ", on the %s, %d SMs: %.2f of %s's speed", e->session->gpu.name,
           e->session->gpu.gpu.sms, ratio_of(e), e->rung ? e->other : "the reference");
    if (e->lab_case->kind == TIMED && !e->rung)
        APPEND(text, ", the bar is %.2f", e->lab_case->bar);
    print_wrapped(text, 0, COLUMNS);
    printf("Times are modelled on a simulated GPU, even if this machine has a GPU.\n");
    print_wrapped(PUT(text, "This case and size: %s.", why_this_size(e)), 0, COLUMNS);
    printf("\n");
}

static void print_sentence(const char *whose, const Seen *seen)
{
    char sentence[400], text[500];

    limits_sentence(&seen->limited.limits, sentence, sizeof sentence);
    print_wrapped(PUT(text, "%s: %s.", whose, sentence), 0, COLUMNS);
}

static void print_what_if(const Explained *e)
{
    WhatIf worth[CAUSES];
    const int count = whatif_worth(e->without, e->without_count, e->yours.ms, worth);
    char text[500];

    if (*e->why_not)
        print_wrapped(PUT(text, "What if: cannot be modelled: %s", e->why_not), 0, COLUMNS);
    else if (!count)
        printf("What if: no single cause is worth more than %.2fx.\n", whatif_least);
    else
        printf("What if: your kernel with one cause removed; bounds, not promises\n");
    for (int i = 0; i < count; i++)
        print_wrapped(whatif_sentence(&worth[i], e->yours.ms, text, sizeof text), 2, COLUMNS);
    printf("\n");
}

static Verdict as_it_ran(const Result *result)
{
    return result->verdict == UNCHANGED ? result->as_it_ran : result->verdict;
}

/* "What to try (short: 0.29, needs 0.50; long: 0.95, passes at 0.70): " */
static void say_which_cases(const Result *result, char *text, size_t size)
{
    int said = 0;

    put(text, size, "What to try");
    for (int below = 1; below >= 0; below--)
        for (int i = 0; i < result->speeds; i++) {
            const CaseSpeed *s = &result->speed[i];
            if (s->lab_case->kind != TIMED || !s->measured ||
                (s->ratio.median < s->bar) != (below == 1))
                continue;
            append(text, size, "%s%s: %.2f, %s %.2f", said++ ? "; " : " (", s->lab_case->label,
                   ratio_shown(s->ratio.median, s->bar, 2), below ? "needs" : "passes at", s->bar);
        }
    append(text, size, "%s: ", said ? ")" : "");
}

/* The lab's remedy for the diagnosis, or where to find hints. */
static void print_advice(const Explained *e)
{
    const Result *result = &e->result;
    const Lab *lab = e->entry->lab;
    const Verdict verdict = as_it_ran(result);
    const int remedy = remedy_for(&result->diagnosis, verdict, result->ratio, lab);
    char text[2000];

    if (e->lab_case->kind != TIMED || ratio_of(e) >= e->lab_case->bar)
        return;
    if (remedy) {
        say_which_cases(result, text, sizeof text);
        APPEND(text, "%s", lab->remedies[remedy - 1].text);
        print_wrapped(text, 0, COLUMNS);
    } else
        printf("What to try: make hint LAB=%s\n", lab_name(e->entry));
}

static void print_pictures(const Explained *e)
{
    const CollectJob job = { e->session, e->entry, &e->sized, e->source, e->shown };

    see_text(&job, &e->yours.limited.limits, stdout);
}

static void print_beside(const Explained *e)
{
    char other[40];

    print_head(e);
    print_sentence("Yours", &e->yours);
    print_sentence(e->rung ? PUT(other, "Rung %d", e->rung) : "The reference", &e->reference);
}

static void print_all(const Explained *e)
{
    print_beside(e);
    print_advice(e);
    printf("\n");
    print_table(e);
    printf("\n");
    print_lines(e);
    printf("\n");
    print_pictures(e);
    print_what_if(e);
}

static bool is_right(const Result *result)
{
    const Verdict verdict = as_it_ran(result);

    return verdict_passed(verdict) || verdict == SLOW || verdict == CORRECT_ONLY;
}

static void print_refusal(const Explained *e)
{
    const Result *result = &e->result;
    const char *why = why_it_failed(result);
    char text[sizeof result->why + 200];

    PUT(text, "%02d %s: %s%s%s", lab_number(e->entry), lab_name(e->entry),
        verdict_label(result->verdict), *why ? ": " : "", why);
    if (strchr(text, '\n'))
        printf("%s\n", text); /* the compiler's lines are not wrapped */
    else
        print_wrapped(text, 4, COLUMNS);
    if (result->verdict == UNSOUND)
        print_wrapped("Not explained: fix the problem above. It lies with this machine or the "
                      "grader, not with your kernel.",
                      0, COLUMNS);
    else
        print_wrapped(PUT(text,
                          "Only a correct kernel can be explained: fix it first (make grade "
                          "LAB=%s).",
                          lab_name(e->entry)),
                      0, COLUMNS);
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
        print_refusal(e);
        return false;
    }
    *sound = build_both(e, yours, &reference) && see_cases(e, yours->object, reference.object);
    return *sound || could_not(e);
}

bool explain(Session *session, const LabEntry *entry, const char *source, const char *shown,
             bool *sound)
{
    static Explained e;
    static Build yours;

    e = (Explained){ .session = session, .entry = entry, .source = source, .shown = shown };
    if (!see_both(&e, &yours, sound))
        return false;
    see_without(&e, yours.object);
    session_clear_line();
    print_all(&e);
    return true;
}

bool explain_beside(Session *session, const LabEntry *entry, const char *source, const char *shown,
                    int rung, bool *sound, int *nearest)
{
    static Explained e;
    static Build yours;

    e = (Explained){
        .session = session, .entry = entry, .source = source, .shown = shown, .rung = rung
    };
    if (!see_both(&e, &yours, sound))
        return false;
    session_clear_line();
    print_beside(&e);
    printf("\n");
    print_table(&e);
    *nearest = ladder_nearest(&session->book, &e.result);
    return true;
}
