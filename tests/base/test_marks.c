/* test_marks.c - the marks for a grading, under every policy. */
#include "base/marks.h"
#include "rows.h"

#include <math.h>
#include <string.h>

static void one_case(void)
{
    static const struct {
        double ratio, floor, bar, marks;
    } rows[] = {
        { 0.75, 0.25, 0.75, 100 },     /* at the bar */
        { 1.30, 0.25, 0.75, 100 },     /* above: capped */
        { INFINITY, 0.25, 0.75, 100 }, /* suspect, but that is not decided here */
        { 0.50, 0.25, 0.75, 75 },      /* half way: base and half of the rest */
        { 0.35, 0.25, 0.75, 60 },      /* 0.10 above rung 1: the whole base */
        { 0.34, 0.25, 0.75, 54 },      /* less: 9/10 of the base, 9/50 of the rest */
        { 0.25, 0.25, 0.75, 0 },       /* no faster than rung 1 or the starter */
        { 0.10, 0.25, 0.75, 0 },       /* slower than rung 1 */
        { 0.2525, 0.25, 0.75, 0 },     /* the starter with one more line, and some noise */
        { 0.2526, 0.25, 0.75, 1.56 },  /* faster */
        { 0.60, 0.598, 0.60, 100 },    /* at the bar, whatever rung 1 reaches */
        { 0.50, 0, 1, 75 },            /* rung 1 not measured */
        { 0.05, 0, 1, 27.5 },          /* the same */
        { 0.50, NAN, 1, 75 },          /* the same */
        { 0.50, -1, 1, 75 },           /* the same */
        { 0.79, 0.80, 0.75, 100 },     /* rung 1 above the bar: passes */
        { 0.70, 0.80, 0.75, 0 },       /* rung 1 above the bar: does not pass */
        { 0.70, 0.75, 0.75, 0 },
        { 0.74, 0.70, 0.75, 60 }, /* bar within 0.10 of rung 1 */
        { 0.50, 0.25, NAN, 50 },  /* an invalid bar: the base */
        { 0, 0.25, 0.75, 0 },     /* not measured */
        { -1, 0.25, 0.75, 0 },
        { NAN, 0.25, 0.75, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(
            marks_for_speed(&policy_default, rows[i].ratio, rows[i].floor, rows[i].bar),
            rows[i].marks, 1e-9);
}

static void faster_is_never_worth_less(void)
{
    static const Policy policies[] = {
        { .base = 50, .gain = 0.10 },
        { .base = 50, .gain = 0.10, .growth = GROWTH_LOG },
        { .base = 0, .gain = 0 },
        { .base = 100, .gain = 0.5 },
        { .base = 30, .gain = 1, .growth = GROWTH_LOG },
    };

    for (size_t p = 0; p < COUNT(policies); p++)
        for (double rung1 = 0; rung1 < 1; rung1 += 0.17) {
            double before = 0;
            for (int i = 0; i <= 1500; i++) {
                double now = marks_for_speed(&policies[p], i / 1000.0, rung1, 0.8);
                CU_ASSERT(before <= now && now <= 100);
                before = now;
            }
            CU_ASSERT_EQUAL(before, 100);
        }
}

static void curves(void)
{
    static const struct {
        double base, gain;
        Growth growth;
        double ratio, rung1, bar, marks;
    } rows[] = {
        { 50, 0.10, GROWTH_LINEAR, 0.50, 0.25, 0.75, 75 },
        { 60, 0.10, GROWTH_LINEAR, 0.50, 0.25, 0.75, 80 },
        { 0, 0.10, GROWTH_LINEAR, 0.50, 0.25, 0.75, 50 },
        { 100, 0.10, GROWTH_LINEAR, 0.50, 0.25, 0.75, 100 },
        { 100, 0.10, GROWTH_LINEAR, 0.25, 0.25, 0.75, 0 },
        { 60, 0.30, GROWTH_LINEAR, 0.50, 0.25, 0.75, 70 }, /* 0.25 above rung 1 of 0.30 */
        { 50, 0, GROWTH_LINEAR, 0.25, 0.25, 0.75, 50 },
        { 50, 0.10, GROWTH_LOG, 0.20, 0.05, 0.80, 75 }, /* half the doublings to the bar */
        { 50, 0.10, GROWTH_LOG, 0.10, 0.05, 0.80, 37.5 },
        { 50, 0.10, GROWTH_LOG, 0.40, 0, 0.80, 75 }, /* no rung 1: linear */
        { 50, 0.10, GROWTH_LOG, 0.02, 0.05, 0.80, 0 },
        { 50, 0.10, GROWTH_LOG, 0.80, 0.05, 0.80, 100 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = { .base = rows[i].base, .gain = rows[i].gain, .growth = rows[i].growth };
        double marks = marks_for_speed(&policy, rows[i].ratio, rows[i].rung1, rows[i].bar);
        if (fabs(marks - rows[i].marks) > 1e-9)
            FAIL_SAYING("row %zu: %.4f", i, marks);
    }
}

/* A speed below the bar is never shown as the bar; rounding loses no more than that. */
static void below_the_bar_looks_below(void)
{
    static const struct {
        double ratio, bar;
        int decimals;
        const char *text;
    } rows[] = {
        { 0.748, 0.75, 2, "0.74" },   { 0.7499, 0.75, 3, "0.749" }, { 0.744, 0.75, 2, "0.74" },
        { 0.75, 0.75, 2, "0.75" },    { 0.754, 0.75, 2, "0.75" },   { 0.79999, 0.80, 3, "0.799" },
        { 0.59951, 0.60, 2, "0.59" }, { 0.1234, 0.75, 3, "0.123" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[32];
        snprintf(text, sizeof text, "%.*f", rows[i].decimals,
                 ratio_shown(rows[i].ratio, rows[i].bar, rows[i].decimals));
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
    }
}

/* Two timed cases of a slow kernel; a case where rung 1 need not be slow counts no more than the
 * other. */
static void several_cases(void)
{
    static const struct {
        MarkedCase cases[2];
        int count;
        double marks;
    } rows[] = {
        { { { 0.50, 0.25, 0.75 }, { 0.75, 0.25, 0.75 } }, 2, 87.5 },
        { { { 0.25, 0.25, 0.75 }, { 1.00, 1.00, 0.75, .spares_rung1 = true } }, 2, 0 },
        { { { 1.00, 0.25, 0.75 }, { 0.50, 0.50, 0.75, .spares_rung1 = true } }, 2, 50 },
        { { { 0.50, 0.25, 0.75 } }, 1, 75 },
        { { { 0 } }, 0, 0 }, /* slow by a counter: its ratio is unknown */
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_DOUBLE_EQUAL(marks_for_cases(&policy_default, rows[i].cases, rows[i].count),
                               rows[i].marks, 1e-9);
}

/* What the report adds up: a spared case counts less than its speed alone would earn. */
static void marks_of_each_case(void)
{
    static const MarkedCase cases[] = {
        { 0.50, 0.25, 0.75 },
        { 1.00, 1.00, 0.75, .spares_rung1 = true },
        { 0.25, 0.25, 0.75 },
    };
    static const double wanted[] = { 75, 37.5, 0 };
    double marks[COUNT(cases)];

    marks_by_case(&policy_default, cases, COUNT(cases), marks);
    for (size_t i = 0; i < COUNT(cases); i++)
        CU_ASSERT_DOUBLE_EQUAL(marks[i], wanted[i], 1e-9);
}

/* ---- Verdicts under each policy ---- */

static void states(void)
{
    static const struct {
        const char *state;
        Closeness close;
        double correct;
        double marks; /* negative: not known */
        const char *why;
    } rows[] = {
        { "pass", CLOSE_PASSES, -1, 100, "fast enough" },
        { "close", CLOSE_PASSES, -1, 100, "counts as a pass" },
        { "close", CLOSE_BY_CURVE, -1, 75, "at 0.500 of the reference's speed" },
        { "close", CLOSE_BY_HUMAN, -1, -1, "a human decides" },
        { "slow", CLOSE_PASSES, -1, 75, "the bar is 0.75, the starter reaches about 0.250" },
        { "correct", CLOSE_PASSES, -1, 50, "its speed was not judged" },
        { "correct", CLOSE_PASSES, 100, 100, "its speed was not judged" },
        { "correct", CLOSE_PASSES, 0, 0, "its speed was not judged" },
        { "wrong", CLOSE_PASSES, -1, 0, "a result differs" },
        { "unsafe", CLOSE_PASSES, -1, 0, "a race" },
        { "stray", CLOSE_PASSES, -1, 0, "wrote outside" },
        { "crash", CLOSE_PASSES, -1, 0, "failed" },
        { "timeout", CLOSE_PASSES, -1, 0, "did not finish in time" },
        { "build", CLOSE_PASSES, -1, 0, "does not compile" },
        { "suspect", CLOSE_PASSES, -1, -1, "a human checks it" },
        { "unsupported", CLOSE_PASSES, -1, -1, "a human decides" },
        { "unchanged", CLOSE_PASSES, -1, 0, "not begun" },
        { "missing", CLOSE_PASSES, -1, 0, "nothing was handed in" },
        { "unreadable", CLOSE_PASSES, -1, 0, "no kernel could be read" },
        { "unsound", CLOSE_PASSES, -1, -1, "the machine failed" },
        { "queued", CLOSE_PASSES, -1, -1, "not graded yet" },
        { "not graded", CLOSE_PASSES, -1, -1, "the machine failed" },
        { "splendid", CLOSE_PASSES, -1, -1, "not a verdict" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        Graded graded = { .state = rows[i].state, .cases = { { 0.50, 0.25, 0.75 } }, .count = 1 };
        Marks marks;
        policy.close = rows[i].close;
        policy.correct = rows[i].correct;
        marks_of(&policy, &graded, &marks);
        CU_ASSERT_EQUAL(marks.known, rows[i].marks >= 0);
        CU_ASSERT_EQUAL(marks.open, rows[i].marks < 0);
        if (marks.known && fabs(marks.marks - rows[i].marks) > 1e-9)
            FAIL_SAYING("%s: %.2f marks", rows[i].state, marks.marks);
        if (!strstr(marks.why, rows[i].why))
            FAIL_SAYING("%s: %s", rows[i].state, marks.why);
    }
}

/* Neither known nor open: the lab counts neither for nor against the student. */
static void withdrawn(void)
{
    const Graded graded = { .state = "withdrawn" };
    Marks marks;

    marks_of(&policy_default, &graded, &marks);
    CU_ASSERT_FALSE(marks.known);
    CU_ASSERT_FALSE(marks.open);
    CU_ASSERT_PTR_NOT_NULL(strstr(marks.why, "does not count"));
}

/* A lab that is judged by counts has no measured cases. */
static void by_counts(void)
{
    static const struct {
        const char *state;
        int count;
        double marks;
        const char *why;
    } rows[] = {
        { "pass", 0, 100, "meet all bounds" },
        { "slow", 0, 0, "misses a bound" },
        { "wrong", 0, 0, "a result differs" },
        { "slow", 1, 75, "the bar is 0.75" }, /* graded by time before the course changed */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        const Graded graded = { .state = rows[i].state,
                                .cases = { { 0.50, 0.25, 0.75 } },
                                .count = rows[i].count };
        Marks marks;
        policy.judge = JUDGED_BY_COUNTS;
        marks_of(&policy, &graded, &marks);
        if (marks.marks != rows[i].marks || !strstr(marks.why, rows[i].why))
            FAIL_SAYING("%s: %.2f marks, %s", rows[i].state, marks.marks, marks.why);
    }
}

static void a_warm_up_has_none(void)
{
    Graded graded = { .state = "pass", .unmarked = true };
    Marks marks;

    marks_of(&policy_default, &graded, &marks);
    CU_ASSERT_FALSE(marks.known);
    CU_ASSERT_FALSE(marks.open);
    CU_ASSERT_PTR_NOT_NULL(strstr(marks.why, "warm-up"));
}

/* ---- Lateness ---- */

enum { HOUR = 3600, DAY = 86400, NOON = 1790000000 };

static void late(void)
{
    static const struct {
        const char *state;
        int64_t after_s; /* the deadline */
        double unit_s, factor, grace_s, cutoff_s;
        Lateness curve;
        double marks;
        const char *why;
    } rows[] = {
        { "pass", -1, DAY, 0.9, 0, 0, LATE_POWER, 100, "fast enough" },
        { "pass", 0, DAY, 0.9, 0, 0, LATE_POWER, 100, "fast enough" }, /* the last second */
        { "pass", 1, DAY, 0.9, 0, 0, LATE_POWER, 90, "1 s late: 90.0 of 100.0" },
        { "pass", DAY, DAY, 0.9, 0, 0, LATE_POWER, 90, "1 d 0 h late" },
        { "pass", DAY + 1, DAY, 0.9, 0, 0, LATE_POWER, 81, "1 d 0 h late" },
        { "pass", DAY + 1, DAY, 0.9, 0, 0, LATE_LINEAR, 80, "80.0 of 100.0" },
        { "pass", 20 * DAY, DAY, 0.9, 0, 0, LATE_LINEAR, 0, "0.0 of 100.0" },
        { "pass", 90 * 60, HOUR, 0.99, 0, 0, LATE_POWER, 98.01, "1 h 30 min late" },
        { "pass", 900, DAY, 0.9, 900, 0, LATE_POWER, 100, "15 min late, within the grace period" },
        { "pass", 901, DAY, 0.9, 900, 0, LATE_POWER, 90, "15 min late: 90.0" },
        { "pass", 7 * DAY, DAY, 1, 0, 7 * DAY, LATE_POWER, 100,
          "7 d 0 h late, which costs nothing" },
        { "pass", 7 * DAY + 1, DAY, 1, 0, 7 * DAY, LATE_POWER, 0, "after the cut-off" },
        { "slow", 1, DAY, 0.5, 0, 0, LATE_POWER, 37.5, "37.5 of 75.0" },
        { "wrong", 1, DAY, 0.5, 0, 0, LATE_POWER, 0, "1 s late, but there are no marks" },
        { "correct", DAY, DAY, 0, 0, 0, LATE_POWER, 0, "0.0 of 50.0" },
        { "missing", DAY, DAY, 0.5, 0, 0, LATE_POWER, 0, "nothing was handed in" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        Graded graded = { .state = rows[i].state,
                          .cases = { { 0.50, 0.25, 0.75 } },
                          .count = 1,
                          .sent = NOON + rows[i].after_s };
        Marks marks;
        policy.has_deadline = true;
        policy.deadline = NOON;
        policy.late_unit_s = rows[i].unit_s;
        policy.late_factor = rows[i].factor;
        policy.late_grace_s = rows[i].grace_s;
        policy.late_cutoff_s = rows[i].cutoff_s;
        policy.late_curve = rows[i].curve;
        marks_of(&policy, &graded, &marks);
        if (fabs(marks.marks - rows[i].marks) > 1e-9 || !strstr(marks.why, rows[i].why))
            FAIL_SAYING("row %zu: %.4f, %s", i, marks.marks, marks.why);
    }
}

/* An unknown time costs no marks. */
static void unknown_times_cost_nothing(void)
{
    Policy policy = policy_default;
    Graded graded = { .state = "pass" };
    Marks marks;

    marks_of(&policy, &graded, &marks);
    CU_ASSERT_PTR_NULL(strstr(marks.why, "not known")); /* no deadline, so it does not matter */
    policy.has_deadline = true;
    policy.late_factor = 0;
    marks_of(&policy, &graded, &marks);
    CU_ASSERT_EQUAL(marks.marks, 100);
    CU_ASSERT_PTR_NOT_NULL(strstr(marks.why, "is unknown, so nothing is deducted"));
    graded.marked_late = true;
    marks_of(&policy, &graded, &marks);
    CU_ASSERT_EQUAL(marks.marks, 100);
    CU_ASSERT_PTR_NOT_NULL(strstr(marks.why, "marked late, but not by how much"));
}

/* ---- What people decide ---- */

static void decisions(void)
{
    static const struct {
        const char *state;
        bool excused;
        Decided decided;
        double decided_marks;
        int64_t after_s;
        bool known;
        double marks;
        const char *why;
    } rows[] = {
        { "suspect", false, DECIDED_PASS, 0, -1, true, 100, "decided by the course staff" },
        { "suspect", false, DECIDED_PASS, 0, 1, true, 90, "90.0 of 100.0" }, /* a late pass */
        { "suspect", false, DECIDED_MARKS, 0, -1, true, 0, "decided by the course staff" },
        { "wrong", false, DECIDED_MARKS, 62.5, 9 * DAY, true, 62.5, "decided" }, /* final */
        { "queued", false, DECIDED_MARKS, 40, -1, true, 40, "decided" }, /* no longer open */
        { "missing", false, DECIDED_MARKS, 40, -1, true, 40, "decided" },
        { "missing", true, NOT_DECIDED, 0, -1, false, 0, "excused" },
        { "pass", true, DECIDED_MARKS, 40, -1, false, 0, "excused" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        Graded graded = { .state = rows[i].state,
                          .sent = NOON + rows[i].after_s,
                          .excused = rows[i].excused,
                          .decided = rows[i].decided,
                          .decided_marks = rows[i].decided_marks };
        Marks marks;
        policy.has_deadline = true;
        policy.deadline = NOON;
        policy.late_factor = 0.9;
        marks_of(&policy, &graded, &marks);
        CU_ASSERT_FALSE(marks.open);
        CU_ASSERT_EQUAL(marks.excused, rows[i].excused);
        if (marks.known != rows[i].known || fabs(marks.marks - rows[i].marks) > 1e-9 ||
            !strstr(marks.why, rows[i].why))
            FAIL_SAYING("row %zu: %.2f, %s", i, marks.marks, marks.why);
    }
}

/* Late days pay for started days of lateness, the fewest that save most marks, and none if they
 * save nothing. */
static void late_days(void)
{
    static const struct {
        const char *state;
        int64_t after_s; /* the deadline */
        double unit_s, factor, grace_s, cutoff_s;
        int left, days;
        double marks; /* with these late days */
    } rows[] = {
        { "pass", -1, DAY, 0.9, 0, 0, 5, 0, 100 },
        { "pass", 1, DAY, 0.9, 0, 0, 5, 1, 100 },
        { "pass", DAY, DAY, 0.9, 0, 0, 5, 1, 100 },
        { "pass", DAY + 1, DAY, 0.9, 0, 0, 5, 2, 100 },
        { "pass", DAY + 900, DAY, 0.9, 900, 0, 5, 1, 100 },        /* the rest is in the grace */
        { "pass", 3 * DAY, DAY, 0.9, 0, 0, 2, 2, 90 },             /* not enough: one day is left */
        { "pass", 3 * DAY, DAY, 0.9, 0, 0, 0, 0, 72.9 },           /* the budget is empty */
        { "pass", 9 * DAY, DAY, 0.9, 0, 7 * DAY, 1, 0, 0 },        /* still after the cut-off */
        { "pass", 9 * DAY, DAY, 0.9, 0, 7 * DAY, 2, 2, 47.82969 }, /* just before it */
        { "pass", 3 * DAY, DAY, 1, 0, 0, 5, 0, 100 },              /* lateness costs nothing */
        { "wrong", 3 * DAY, DAY, 0.9, 0, 0, 5, 0, 0 },             /* no marks to save */
        { "missing", 3 * DAY, DAY, 0.9, 0, 0, 5, 0, 0 },
        { "slow", 90 * 60, 3600, 0.9, 0, 0, 5, 1, 75 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        Graded graded = { .state = rows[i].state,
                          .cases = { { 0.50, 0.25, 0.75 } },
                          .count = 1,
                          .sent = NOON + rows[i].after_s };
        Marks marks;
        policy.has_deadline = true;
        policy.deadline = NOON;
        policy.late_unit_s = rows[i].unit_s;
        policy.late_factor = rows[i].factor;
        policy.late_grace_s = rows[i].grace_s;
        policy.late_cutoff_s = rows[i].cutoff_s;
        marks_of(&policy, &graded, &marks);
        graded.late_days = marks_late_days(&policy, &marks, rows[i].left);
        CU_ASSERT_EQUAL(graded.late_days, rows[i].days);
        marks_of(&policy, &graded, &marks);
        if (fabs(marks.marks - rows[i].marks) > 1e-9)
            FAIL_SAYING("row %zu: %d days, %.5f, %s", i, graded.late_days, marks.marks, marks.why);
        CU_ASSERT_EQUAL(strstr(marks.why, "the budget") != NULL, rows[i].days > 0);
    }
}

static void extensions(void)
{
    static const struct {
        bool has_deadline;
        double by_s;
        int64_t until, deadline;
    } rows[] = {
        { true, 2 * DAY, 0, NOON + 2 * DAY },
        { true, 0, NOON + 60, NOON + 60 },
        { true, 0, NOON - 60, NOON }, /* an extension never shortens */
        { true, 0, 0, NOON },
        { false, 2 * DAY, 0, 0 },
        { false, 0, NOON, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Policy policy = policy_default;
        policy.has_deadline = rows[i].has_deadline;
        policy.deadline = rows[i].has_deadline ? NOON : 0;
        policy = marks_extended(&policy, rows[i].by_s, rows[i].until);
        CU_ASSERT_EQUAL(policy.has_deadline, rows[i].has_deadline);
        CU_ASSERT_EQUAL(policy.deadline, rows[i].deadline);
    }
}

/* ---- Totals ---- */

static void totals(void)
{
    static const struct {
        double weight;
        Marks marks;
    } rows[] = {
        { 1, { .known = true, .marks = 100 } },
        { 3, { .known = true, .marks = 60 } },
        { 0, { .known = true, .marks = 5 } },
        { 2, { .open = true } },
        { 2, { 0 } }, /* a warm-up */
    };
    Total total = { 0 };

    CU_ASSERT_EQUAL(marks_total(&total), 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        marks_add(&total, rows[i].weight, &rows[i].marks);
    CU_ASSERT_DOUBLE_EQUAL(marks_total(&total), 70, 1e-9);
    CU_ASSERT_EQUAL(total.open, 1);
}

CU_SuiteInfo test_marks = {
    "marks",
    .pTests =
        (CU_TestInfo[]){
            { "one case", one_case },
            { "faster is never worth less", faster_is_never_worth_less },
            { "curves", curves },
            { "several cases", several_cases },
            { "marks of each case", marks_of_each_case },
            { "below the bar looks below", below_the_bar_looks_below },
            { "states", states },
            { "withdrawn", withdrawn },
            { "by counts", by_counts },
            { "a warm-up has none", a_warm_up_has_none },
            { "late", late },
            { "unknown times cost nothing", unknown_times_cost_nothing },
            { "decisions", decisions },
            { "late days", late_days },
            { "extensions", extensions },
            { "totals", totals },
            CU_TEST_INFO_NULL,
        },
};
