/* table.c - the table of make explain: shares of the time by limit, waits, units, the roofline. */
#include "learner/explain/explained.h"
#include "base/text.h"

#include <stdio.h>

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
        const double yours = explain_share(&e->yours, left.at[limit]);
        const double reference =
            explain_share(&e->reference, e->reference.limited.limits.spent.at[limit]);
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
        const double left = explain_share(&e->yours, yours[i]);
        const double right = explain_share(&e->reference, reference[i]);
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

/* Without FP32 arithmetic the roof is memory's alone, since the ridge compares the two. It says
 * nothing about a kernel that memory does not limit. */
static void row_of_memory(double yours, double reference)
{
    static const double least = 0.1;

    if (yours >= least || reference >= least)
        row_of_shares("roofline: share of the (theoretical) roof reached", 100 * yours,
                      100 * reference);
}

static void rows_of_roofline(const Explained *e)
{
    const Limited *a = &e->yours.limited, *b = &e->reference.limited;
    const Roofline left = roofline_of(&a->limits, a->fp32_tflops, a->memory_gbps);
    const Roofline right = roofline_of(&b->limits, b->fp32_tflops, b->memory_gbps);
    char label[60], yours[32], reference[32];

    if (a->limits.flops <= 0 && b->limits.flops <= 0) {
        row_of_memory(left.reached, right.reached);
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

void explain_print_table(const Explained *e)
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
