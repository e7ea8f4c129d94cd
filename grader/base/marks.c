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

const Policy policy_default = { .weight = 1,
                                .base = 50,
                                .gain = 0.10,
                                .correct = -1,
                                .late_unit_s = 86400,
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
    return policy->base * share_of_the_gain(policy, ratio, rung1) +
           (100 - policy->base) * share_of_the_way(policy, ratio, rung1, bar);
}

double ratio_shown(double ratio, double bar, int decimals)
{
    const double unit = pow(10, -decimals);
    const double rounded = round(ratio / unit) * unit;

    return ratio < bar && rounded > bar - unit / 2 ? (ceil(bar / unit - 1e-9) - 1) * unit : ratio;
}

/* The mean over the cases. In cases where rung 1 need not be slow, the starter is also fast, so
 * their mean counts only up to the mean of the other cases. */
double marks_for_cases(const Policy *policy, const MarkedCase *cases, int count)
{
    double sum[2] = { 0 };
    int of[2] = { 0 };

    for (int i = 0; i < count; i++) {
        const MarkedCase *c = &cases[i];
        sum[c->spares_rung1] += marks_for_speed(policy, c->ratio, c->rung1, c->bar);
        of[c->spares_rung1]++;
    }
    if (of[0])
        sum[1] = fmin(sum[1], of[1] * sum[0] / of[0]);
    return count ? (sum[0] + sum[1]) / count : 0;
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
        APPEND(marks->why, ", rung 1 reaches %.3f", worst->rung1);
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

/* States that are not verdicts. */
static const struct {
    const char *state;
    bool open;
    const char *why;
} states[] = {
    { "missing", false, "nothing was handed in" },
    { "queued", true, "not graded yet" },
    { "not graded", true, "the machine failed, not the student" },
    { "unsound", true, "the machine failed, not the student" },
};

static void judge(const Policy *policy, const Graded *graded, Marks *marks)
{
    Verdict verdict;

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(graded->state, states[i].state)) {
            if (states[i].open)
                leave_open(marks, states[i].why);
            else
                settle(marks, 0, states[i].why);
            return;
        }
    if (!verdict_from_word(graded->state, &verdict))
        leave_open(marks, "not a verdict that has marks");
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
        settle(marks, 0, "none until a human has checked");
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

static double left_of_marks(const Policy *policy, double late_s)
{
    double units = ceil(late_s / policy->late_unit_s);

    if (policy->late_curve == LATE_LINEAR)
        return fmax(0, 1 - units * (1 - policy->late_factor));
    return pow(policy->late_factor, units);
}

static void deduct(const Policy *policy, const Graded *graded, Marks *marks)
{
    char late[40];
    double left;

    if (!policy->has_deadline || !strcmp(graded->state, "missing"))
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
    if ((double) marks->late_s <= policy->late_grace_s) {
        APPEND(marks->why, "; %s late, within the grace period", late);
        return;
    }
    if (policy->late_cutoff_s > 0 && (double) marks->late_s > policy->late_cutoff_s) {
        marks->marks = 0;
        APPEND(marks->why, "; %s late, after the cut-off: no marks", late);
        return;
    }
    left = left_of_marks(policy, (double) marks->late_s);
    marks->marks = marks->whole * left;
    if (left < 1)
        APPEND(marks->why, "; %s late: %.1f of %.1f marks are left", late, marks->marks,
               marks->whole);
    else
        APPEND(marks->why, "; %s late, which costs nothing", late);
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
