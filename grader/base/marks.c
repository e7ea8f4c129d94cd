/* marks.c - the marks that a lab's policy gives for a grading. Numbers in, marks and a sentence
 * out.
 *
 * First the marks before lateness: they follow from the verdict, and for `slow` (or for `close`
 * where the curve decides) from the timed cases. Then the deduction for lateness.
 */
#include "base/marks.h"
#include "base/util.h"
#include "base/verdict.h"

#include <math.h>
#include <string.h>

enum { DAY_S = 86400 };

const Policy policy_default = { .weight = 1,
                                .base = 50,
                                .gain = 0.10,
                                .correct = -1,
                                .late_unit_s = DAY_S,
                                .late_factor = 1,
                                .quiz = -1 };

/* ---- Speed ---- */

static double share_of_the_way(const Policy *policy, double ratio, double rung1, double bar)
{
    if (!(ratio > rung1 && bar > rung1)) /* NaN too */
        return 0;
    if (policy->growth == GROWTH_LOG && rung1 > 0)
        return log(ratio / rung1) / log(bar / rung1);
    return (ratio - rung1) / (bar - rung1);
}

/* A kernel is faster than rung 1, or than the starter, if it is faster by this. Otherwise noise,
 * and the four decimals of rung 1's stored speed, would give a starter with one more line a few
 * marks. */
static const double faster_than_rung1 = 1.01;

/* 0 at the speed of rung 1, which is about the starter's; 1 at `gain` above it and beyond. */
static double share_of_the_gain(const Policy *policy, double ratio, double rung1)
{
    if (ratio >= rung1 + policy->gain)
        return 1;
    return ratio > rung1 ? (ratio - rung1) / policy->gain : 0;
}

double marks_for_speed(const Policy *policy, double ratio, double rung1, double bar)
{
    if (!(ratio > 0)) /* NaN too */
        return 0;
    if (ratio >= bar)
        return 100;
    if (!(rung1 > 0)) /* not measured */
        rung1 = 0;
    if (policy->gain > 0 && rung1 < bar && ratio <= rung1 * faster_than_rung1)
        return 0;
    return policy->base * share_of_the_gain(policy, ratio, rung1) +
           (100 - policy->base) * share_of_the_way(policy, ratio, rung1, bar);
}

double ratio_shown(double ratio, double bar, int decimals)
{
    const double unit = pow(10, -decimals);
    const double rounded = round(ratio / unit) * unit;

    return ratio < bar && rounded > bar - unit / 2 ? (ceil(bar / unit - 1e-9) - 1) * unit : ratio;
}

/* In cases where rung 1 need not be slow, the starter is also fast, so their mean counts only up to
 * the mean of the other cases. */
void marks_by_case(const Policy *policy, const MarkedCase *cases, int count, double *marks)
{
    double sum[2] = { 0 }, most, share = 1;
    int of[2] = { 0 };

    for (int i = 0; i < count; i++) {
        const MarkedCase *c = &cases[i];
        marks[i] = marks_for_speed(policy, c->ratio, c->rung1, c->bar);
        sum[c->spares_rung1] += marks[i];
        of[c->spares_rung1]++;
    }
    most = of[0] ? of[1] * sum[0] / of[0] : sum[1];
    if (sum[1] > most)
        share = most / sum[1];
    for (int i = 0; i < count; i++)
        marks[i] *= cases[i].spares_rung1 ? share : 1;
}

double marks_for_cases(const Policy *policy, const MarkedCase *cases, int count)
{
    double marks[MARKED_CASES], sum = 0;

    marks_by_case(policy, cases, count, marks);
    for (int i = 0; i < count; i++)
        sum += marks[i];
    return count ? sum / count : 0;
}

/* ---- The verdict ---- */

static void settle(Marks *marks, double whole, const char *why)
{
    marks->known = true;
    marks->whole = marks->marks = whole;
    PUT(marks->why, "%s", why);
}

static void leave_open(Marks *marks, const char *why)
{
    marks->open = true;
    PUT(marks->why, "%s", why);
}

/* The case that is furthest below its bar gives the reason. */
static void by_curve(const Policy *policy, const Graded *graded, Marks *marks)
{
    const MarkedCase *worst = NULL;

    for (int i = 0; i < graded->count; i++)
        if (!worst || graded->cases[i].ratio - graded->cases[i].bar < worst->ratio - worst->bar)
            worst = &graded->cases[i];
    settle(marks, fmin(99, marks_for_cases(policy, graded->cases, graded->count)),
           "correct, but no faster than the starter");
    if (worst)
        PUT(marks->why, "correct, at %.3f of the reference's speed; the bar is %.2f",
            ratio_shown(worst->ratio, worst->bar, 3), worst->bar);
    if (worst && worst->rung1 > 0)
        APPEND(marks->why, ", the starter reaches about %.3f", worst->rung1);
}

static void by_closeness(const Policy *policy, const Graded *graded, Marks *marks)
{
    if (policy->close == CLOSE_BY_HUMAN)
        leave_open(marks, "too close to the bar to decide: a human decides");
    else if (policy->close == CLOSE_BY_CURVE)
        by_curve(policy, graded, marks);
    else
        settle(marks, 100, "too close to the bar to decide: counts as a pass");
}

/* States that are not verdicts: 0 marks, open, or not counted at all. */
static const struct {
    const char *state;
    enum { NO_MARKS, STILL_OPEN, NOT_COUNTED } then;
    const char *why;
} states[] = {
    { "missing", NO_MARKS, "nothing was handed in" },
    { "withdrawn", NOT_COUNTED, "withdrawn from the course: this lab does not count" },
    { "unreadable", NO_MARKS, "something was handed in, but no kernel could be read" },
    { "queued", STILL_OPEN, "not graded yet" },
    { "not graded", STILL_OPEN, "the machine failed, not the student" },
    { "unsound", STILL_OPEN, "the machine failed, not the student" },
};

/* True if a person's decision replaces the verdict. */
static bool by_decision(const Graded *graded, Marks *marks)
{
    if (graded->excused) {
        marks->excused = true;
        PUT(marks->why, "excused: this lab does not count");
    } else if (graded->decided == DECIDED_PASS) {
        settle(marks, 100, "counts as a pass: decided by the course staff");
    } else if (graded->decided == DECIDED_MARKS) {
        settle(marks, graded->decided_marks, "these marks were decided by the course staff");
    }
    return graded->excused || graded->decided;
}

static void judge(const Policy *policy, const Graded *graded, Marks *marks)
{
    Verdict verdict;

    if (by_decision(graded, marks))
        return;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(graded->state, states[i].state)) {
            if (states[i].then == STILL_OPEN)
                leave_open(marks, states[i].why);
            else if (states[i].then == NO_MARKS)
                settle(marks, 0, states[i].why);
            else
                PUT(marks->why, "%s", states[i].why);
            return;
        }
    if (!verdict_from_word(graded->state, &verdict))
        leave_open(marks, "not a verdict that has marks");
    else if (policy->judge == JUDGED_BY_COUNTS && !graded->count && verdict == PASS)
        settle(marks, 100, "correct, and its counters meet all bounds of the lab");
    else if (policy->judge == JUDGED_BY_COUNTS && !graded->count && verdict == SLOW)
        settle(marks, 0, "correct, but a counter misses a bound of the lab");
    else if (verdict == PASS)
        settle(marks, 100, "correct, and fast enough");
    else if (verdict == CLOSE)
        by_closeness(policy, graded, marks);
    else if (verdict == SLOW)
        by_curve(policy, graded, marks);
    else if (verdict == CORRECT_ONLY)
        settle(marks, policy->correct >= 0 ? policy->correct : policy->base,
               "correct; its speed was not judged");
    else if (verdict == SUSPECT)
        leave_open(marks, "not trusted: a human checks it and decides");
    else if (verdict == UNSUPPORTED)
        leave_open(marks, "the simulated GPU does not support this kernel: a human decides");
    else
        settle(marks, 0, verdict_meaning(verdict));
}

/* ---- Lateness ---- */

/* Formats "3 d 4 h" or "12 min": rounded down to the smaller unit shown, but never to zero. */
static const char *span(double seconds, char *text, size_t size)
{
    long long minutes = (long long) (seconds / 60);

    if (minutes >= 24 * 60)
        put(text, size, "%lld d %lld h", minutes / (24 * 60), minutes / 60 % 24);
    else if (minutes >= 60)
        put(text, size, "%lld h %lld min", minutes / 60, minutes % 60);
    else if (minutes > 0)
        put(text, size, "%lld min", minutes);
    else
        put(text, size, "%.0f s", seconds);
    return text;
}

static bool within_grace(const Policy *policy, double late_s)
{
    return late_s <= policy->late_grace_s;
}

static bool after_cutoff(const Policy *policy, double late_s)
{
    return policy->late_cutoff_s > 0 && late_s > policy->late_cutoff_s;
}

static double left_of_marks(const Policy *policy, double late_s)
{
    double units = ceil(late_s / policy->late_unit_s);

    if (late_s <= 0 || within_grace(policy, late_s))
        return 1;
    if (after_cutoff(policy, late_s))
        return 0;
    if (policy->late_curve == LATE_LINEAR)
        return fmax(0, 1 - units * (1 - policy->late_factor));
    return pow(policy->late_factor, units);
}

static void deduct(const Policy *policy, const Graded *graded, Marks *marks)
{
    char late[80];
    double left, counted_s;

    if (!policy->has_deadline || is_in("missing withdrawn unreadable", graded->state) ||
        graded->excused || graded->decided == DECIDED_MARKS)
        return;
    if (!graded->sent) {
        APPEND(marks->why, "; the time of submission is unknown%s, so nothing is deducted",
               graded->marked_late ? " (marked late, but not by how much)" : "");
        return;
    }
    if (graded->sent <= policy->deadline)
        return;
    marks->late_s = graded->sent - policy->deadline;
    span((double) marks->late_s, late, sizeof late);
    APPEND(late, " late");
    if (graded->late_days)
        APPEND(late, ", less %d late day%s of the budget", graded->late_days,
               graded->late_days > 1 ? "s" : "");
    counted_s = (double) marks->late_s - DAY_S * graded->late_days;
    left = left_of_marks(policy, counted_s);
    marks->marks = marks->whole * left;
    if (!graded->late_days && within_grace(policy, counted_s)) {
        marks->late_s = 0;
        APPEND(marks->why, "; %s, within the grace period", late);
    } else if (after_cutoff(policy, counted_s))
        APPEND(marks->why, "; %s, after the cut-off: no marks", late);
    else if (left < 1 && marks->whole <= 0)
        APPEND(marks->why, "; %s, but there are no marks to deduct from", late);
    else if (left < 1)
        APPEND(marks->why, "; %s: %.1f of %.1f marks are left", late, marks->marks, marks->whole);
    else
        APPEND(marks->why, "; %s, which costs nothing", late);
}

Policy marks_extended(const Policy *policy, double by_s, int64_t until)
{
    Policy extended = *policy;

    if (policy->has_deadline && by_s > 0)
        extended.deadline += (int64_t) by_s;
    else if (policy->has_deadline && until > policy->deadline)
        extended.deadline = until;
    return extended;
}

int marks_late_days(const Policy *policy, const Marks *marks, int left)
{
    double late_s = (double) marks->late_s, most = left_of_marks(policy, late_s);
    int days = 0;

    if (!policy->has_deadline || !(marks->open || (marks->known && marks->whole > 0)))
        return 0;
    for (int i = 1; i <= left; i++) {
        double saved = left_of_marks(policy, late_s - DAY_S * i);
        if (saved > most) {
            most = saved;
            days = i;
        }
    }
    return days;
}

void marks_of(const Policy *policy, const Graded *graded, Marks *marks)
{
    *marks = (Marks){ 0 };
    if (graded->unmarked) {
        PUT(marks->why, "a warm-up: no marks");
        return;
    }
    judge(policy, graded, marks);
    deduct(policy, graded, marks);
}

void marks_mix_quiz(const Policy *policy, int right, int asked, Marks *marks)
{
    const double earned = asked > 0 ? 100.0 * right / asked : 0;
    const double left = marks->whole > 0 ? marks->marks / marks->whole : 1; /* after lateness */

    if (!marks->known || policy->quiz <= 0)
        return;
    marks->whole = (1 - policy->quiz) * marks->whole + policy->quiz * earned;
    marks->marks = left * marks->whole;
    APPEND(marks->why, "; quiz: %d of %d right, for %.0f %% of the marks", right, asked,
           100 * policy->quiz);
}

/* ---- Totals ---- */

void marks_add(Total *total, double weight, const Marks *marks)
{
    if (marks->known) {
        total->sum += weight * marks->marks;
        total->weight += weight;
    } else {
        total->open += marks->open;
    }
}

double marks_total(const Total *total)
{
    return total->weight > 0 ? total->sum / total->weight : 0;
}
