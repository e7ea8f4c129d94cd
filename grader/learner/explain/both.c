/* both.c - two kernels with the same limit: one sentence for both, with the figures of the first,
 * and where their times differ. */
#include "learner/explain/explain.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Skips a figure in both texts. False if it says how wasteful a kernel is, "6.4 times the sectors",
 * and differs. */
static bool skip_figure(const char **a, const char **b)
{
    char *a_end, *b_end;
    const double x = strtod(*a, &a_end), y = strtod(*b, &b_end);
    const bool is_waste = !strncmp(a_end, " times", 6);

    *a = a_end;
    *b = b_end;
    return !is_waste || fabs(x - y) <= 0.1 * fmax(x, y);
}

/* Sentences are the same if they differ only in figures such as shares. */
static bool is_same_sentence(const char *a, const char *b)
{
    while (*a && *b)
        if (isdigit((unsigned char) *a) && isdigit((unsigned char) *b)) {
            if (!skip_figure(&a, &b))
                return false;
        } else if (*a++ != *b++) {
            return false;
        }
    return *a == *b;
}

/* The time in us that a limit takes of a call. */
static double time_of(const Spent *spent, double ms, int limit)
{
    const double all = spent_sum(spent);

    return all > 0 ? 1e3 * ms * spent->at[limit] / all : 0;
}

/* The limit whose times differ most. */
static int most_different(const Spent *a, double a_ms, const Spent *b, double b_ms)
{
    int most = 0;
    double difference = -1;

    for (int i = 0; i < LIMITS; i++) {
        const double now = fabs(time_of(a, a_ms, i) - time_of(b, b_ms, i));
        if (now > difference)
            most = i;
        difference = fmax(difference, now);
    }
    return most;
}

bool explain_both(const Limits *yours, double your_ms, const Limits *other, double other_ms,
                  const char *whose, char *text, size_t size)
{
    static const double least = 0.01; /* of the other's time */
    const int most = most_different(&yours->spent, your_ms, &other->spent, other_ms);
    const double mine = time_of(&yours->spent, your_ms, most);
    const double theirs = time_of(&other->spent, other_ms, most);
    char a[400], b[400];

    limits_sentence(yours, a, sizeof a);
    limits_sentence(other, b, sizeof b);
    if (limits_most(yours) != limits_most(other) || !is_same_sentence(a, b))
        return false;
    put(text, size, "Both: %s. ", a);
    if (fabs(mine - theirs) < least * 1e3 * other_ms)
        append(text, size, "No limit takes 1 %% more of the time in one call than in the other.");
    else
        append(text, size, "They differ most in %s: %.2f us of your call, %.2f us of %s's.",
               limit_nouns[most], mine, theirs, whose);
    return true;
}
