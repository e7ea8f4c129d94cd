/* report.c - a grading as text for people: the table, reasons, what to do next. */
#include "learner/report.h"
#include "learner/command_line.h"
#include "base/remedy.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Why the GPU is simulated, without the advice that follows. The format for programs keeps the
 * words that it always had. */
static const char *why_simulated(const Session *session, char *why, size_t size)
{
    if (!strcmp(session->simulated, "as asked for"))
        return "as requested";
    return put(why, size, "%.*s", (int) strcspn(session->simulated, ";"), session->simulated);
}

void report_gpu(const Session *session)
{
    char why[sizeof session->simulated], text[sizeof why + 200];

    PUT(text, "%s", session->gpu.name);
    if (*session->simulated)
        APPEND(text, " (%s): speed is modelled", why_simulated(session, why, sizeof why));
    if (*session->course.name)
        APPEND(text, "; bars of the course %s", session->course.name);
    print_wrapped(text, 0, 80);
}

void report_machine(const Session *session)
{
    const GpuInfo *gpu = &session->gpu;
    char why[sizeof session->simulated], text[sizeof why + 200];

    if (*session->simulated) {
        PUT(text, "%s (%s): time is modelled, not measured", gpu->name,
            why_simulated(session, why, sizeof why));
        print_wrapped(text, 0, 80);
    } else {
        printf("%s: ", gpu->name);
    }
    printf("%d SMs, %.3g MiB L2", gpu->gpu.sms, (double) gpu->gpu.l2_bytes / 1048576.0);
    if (gpu->peak_gbps > 0)
        printf(", memory %.0f GB/s at most", gpu->peak_gbps);
    printf("\ncompute capability %d.%d, ", gpu->cc / 10, gpu->cc % 10);
    if (!*session->simulated)
        printf("driver %s, ", gpu->driver);
    printf("nvcc %s\n", session->toolchain.version);
    if (*session->course.name)
        printf("bars and marks of the course %s\n", session->course.name);
    printf("\n");
}

/* ---- The table: 80 columns ---- */

static void case_name(const CaseSpeed *s, char *text, size_t size)
{
    put(text, size, "%s", s->lab_case->label);
    for (int i = 0; s->measured && i < LAB_DIMS && s->dim[i]; i++)
        append(text, size, "%s%ld", i ? " x " : " ", s->dim[i]);
}

static void report_case(const CaseSpeed *s)
{
    char name[64], speed[32] = "-", bar[16] = "-", rate[32] = "-";

    case_name(s, name, sizeof name);
    if (strlen(name) > 34)
        strcpy(name + 32, ".."); /* without dots, a cut number looks like another */
    if (s->measured) {
        PUT(speed, "%.3f", ratio_shown(s->ratio.median, s->bar, 3));
        PUT(rate, "%.0f G%s", case_rate(s), case_unit(s));
    }
    if (s->lab_case->kind == TIMED)
        PUT(bar, "%.2f", s->bar);
    printf("    %-34s %6s %6s %14s%s\n", name, speed, bar, rate,
           s->lab_case->kind == CONTROL ? "  control" : "");
}

void report_table(const Result *result, bool first)
{
    char lab[40];

    if (first)
        printf("%-37s %7s %6s %14s  %s\n", "lab", "speed", "bar", "rate", "verdict");
    PUT(lab, "%02d %s", lab_number(result->entry), lab_name(result->entry));
    printf("%-37s %7s %6s %14s  %s\n", lab, "", "", "", verdict_label(result->verdict));
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].measured || result->verdict == CORRECT_ONLY)
            report_case(&result->speed[i]);
    fflush(stdout);
}

/* ---- After the table ---- */

static double worst_resolution(const Result *result)
{
    double worst = 0;

    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].resolution > worst)
            worst = result->speed[i].resolution;
    return worst;
}

void report_short(const Result *result)
{
    char text[sizeof result->why + 200];

    PUT(text, "%02d %s: %s", lab_number(result->entry), lab_name(result->entry),
        verdict_label(result->verdict));
    if (result->why[0])
        APPEND(text, ": %.*s", (int) strcspn(result->why, "\n"), result->why);
    print_wrapped(text, 4, 80);
    fflush(stdout);
}

/* "d = 64: 24; d = 63: 24, not 100, since the starter is fast there, too" */
static void say_case_marks(const Policy *policy, const Result *result, char *text, size_t size)
{
    double counted[MARKED_CASES];
    Graded graded;
    int i = 0;

    graded_of(result, &graded);
    marks_by_case(policy, graded.cases, graded.count, counted);
    for (int k = 0; k < result->speeds && i < graded.count; k++) {
        const CaseSpeed *s = &result->speed[k];
        if (s->lab_case->kind != TIMED || !s->measured)
            continue;
        const MarkedCase *c = &graded.cases[i];
        const double alone = marks_for_speed(policy, c->ratio, c->rung1, c->bar);
        append(text, size, "%s%s: %.0f", i ? "; " : "", s->lab_case->label, floor(counted[i]));
        if (floor(alone) > floor(counted[i]))
            append(text, size, ", not %.0f, since the starter is fast there, too", floor(alone));
        i++;
    }
}

static void report_marks(const Policy *policy, const Result *result)
{
    char text[1000];

    PUT(text, "%d of 100 marks", (int) result->marks);
    if (policy->judge == JUDGED_BY_TIME) {
        APPEND(text, ", the mean of the timed cases (");
        say_case_marks(policy, result, text, sizeof text);
        APPEND(text,
               "). A case earns up to %.0f for being clearly faster than the starter, and up to "
               "%.0f more as its speed nears the bar",
               policy->base, 100 - policy->base);
    }
    APPEND(text, ".");
    print_wrapped(text, 4, 80);
}

/* `alone`: the only lab that was graded. */
static void report_reason(const Policy *policy, const Result *result, bool alone)
{
    char text[sizeof result->why + 200];

    PUT(text, "%02d %s: %s", lab_number(result->entry), lab_name(result->entry),
        verdict_label(result->verdict));
    if (result->why[0])
        APPEND(text, ": %s", result->why);
    if ((result->verdict == BUILD || result->verdict == UNSOUND) && strchr(text, '\n'))
        print_lines_wrapped(text, 0, 80);
    else
        print_wrapped(text, 4, 80);
    if (result->verdict == SLOW && result->ratio > 0)
        report_marks(policy, result);
    if (alone && result->verdict == SLOW && result->limiter[0])
        print_wrapped(PUT(text, "What limits it: %s. make explain LAB=%s shows the lines.",
                          result->limiter, lab_name(result->entry)),
                      4, 80);
    if (result->note[0])
        print_wrapped(result->note, 4, 80);
    if (result->flags[0])
        printf("    for a human to check: %s\n", result->flags);
    if (result->printed[0])
        printf("    your code printed:\n%s%s", result->printed,
               result->printed[strlen(result->printed) - 1] == '\n' ? "" : "\n");
    if ((verdict_passed(result->verdict) || result->verdict == CORRECT_ONLY) &&
        result->entry->lab->question) {
        PUT(text, "Does it transfer? %s", result->entry->lab->question);
        print_wrapped(text, 4, 80);
    }
}

static bool has_remedy(const Result *r)
{
    return remedy_for(&r->diagnosis, r->verdict, r->ratio, r->entry->lab) > 0;
}

/* The first lab to continue with, and the command for it. */
static void report_next(const Session *session, const Result *results, int count)
{
    bool simulated = *session->simulated, unjudged = false;

    for (int i = 0; i < count; i++) {
        const Result *r = &results[i];
        const char *name = lab_name(r->entry);
        switch (r->verdict) {
        case PASS:
        case CLOSE:
            continue;
        case CORRECT_ONLY:
            unjudged = true;
            if (simulated)
                continue;
            printf("Next: run make grade LAB=%s on a machine where speed can be judged.\n", name);
            return;
        case UNCHANGED:
            printf("Next: read labs/%s/README.md, then edit kernel.cu in that folder.\n",
                   r->entry->folder);
            return;
        case UNSOUND:
            printf("Next: fix the problem above. It lies with this machine or the "
                   "grader, not with your kernel.\n");
            return;
        case SLOW:
            printf("Next: make hint LAB=%s, then make grade LAB=%s.\n", name, name);
            return;
        default:
            printf("Next: fix labs/%s/kernel.cu, then make grade LAB=%s.\n", r->entry->folder,
                   name);
            if (has_remedy(r))
                printf("      make hint LAB=%s says where to look.\n", name);
            return;
        }
    }
    if (unjudged)
        printf("Next: another lab. For labs marked correct, only a GPU can judge the speed.\n");
    else
        printf("%s. make shows the next lab; make progress shows what is left.\n",
               count == 1 ? "This lab is passed" : "All of these pass");
}

/* A course may set a different seed for each lab. */
static bool same_seed(const Result *results, int count)
{
    for (int i = 1; i < count; i++)
        if (results[i].seed != results[0].seed)
            return false;
    return true;
}

void report_reasons(const Session *session, const Result *results, int count, bool submission)
{
    double worst = 0;

    printf("\n");
    for (int i = 0; i < count; i++) {
        report_reason(&session->course.lab[results[i].entry - all_labs].policy, &results[i],
                      count == 1);
        worst = worst_resolution(&results[i]) > worst ? worst_resolution(&results[i]) : worst;
    }
    if (*session->simulated)
        printf("\nspeed, simulated: reference time / your time, from a model of that GPU.\n");
    else
        printf("\nspeed: reference time / your time, both measured now, in turns.\n");
    if (worst > 0)
        printf("Two measurements of the reference differ by %.1f %%: smaller differences are "
               "noise.\n",
               worst * 100);
    if (same_seed(results, count))
        printf("The same inputs again: --seed %016" PRIx64 "\n", results[0].seed);
    else
        printf("The course fixes the inputs: they are the same in each grading.\n");
    if (submission)
        printf("Graded as a submission, so make progress does not record it.\n");
    else
        report_next(session, results, count);
}

void report_page(const char *what, const char *path)
{
    fprintf(stderr, "%s\nOpen it in a browser:\n", what);
    printf("%s\n", path);
}

int report_could_not(const Session *session)
{
    fprintf(stderr, "Cannot grade here: %s.\n", session->problem);
    return COULD_NOT;
}
