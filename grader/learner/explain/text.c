/* text.c - what make explain prints, from top to bottom. */
#include "base/remedy.h"
#include "base/text.h"
#include "judge/outputs.h"
#include "learner/explain/explain.h"
#include "learner/explain/explained.h"
#include "learner/see/text.h"

#include <stdio.h>
#include <string.h>

/* make grade and make see take the same size; make quiz and make draw take the smallest one that is
 * timed, which needs no reference, so it is named. */
static const char *why_this_size(const Explained *e)
{
    if (e->asked)
        return "the one that you named, at the size of make grade";
    if (e->lab_case->kind != TIMED)
        return "the lab's first control case, since this lab judges no speed; the size of make "
               "grade";
    if (explain_worst(&e->result))
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
           e->session->gpu.gpu.sms, explain_ratio(e), e->rung ? e->other : "the reference");
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
    const Verdict verdict = explain_verdict(result);
    const int remedy = remedy_for(&result->diagnosis, verdict, result->ratio, lab);
    char text[2000];

    if (e->lab_case->kind != TIMED || explain_ratio(e) >= e->lab_case->bar)
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

void explain_print_sentences(const Explained *e)
{
    const Seen *yours = &e->yours, *reference = &e->reference;
    char other[40], text[500];

    print_head(e);
    if (explain_both(&yours->limited.limits, yours->ms, &reference->limited.limits, reference->ms,
                     e->rung ? e->other : "the reference", text, sizeof text)) {
        print_wrapped(text, 0, COLUMNS);
        return;
    }
    print_sentence("Yours", yours);
    print_sentence(e->rung ? PUT(other, "Rung %d", e->rung) : "The reference", reference);
}

void explain_print_all(const Explained *e)
{
    explain_print_sentences(e);
    print_advice(e);
    printf("\n");
    explain_print_table(e);
    printf("\n");
    explain_print_lines(e);
    printf("\n");
    print_pictures(e);
    print_what_if(e);
}

void explain_print_refusal(const Explained *e)
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
