/* stats.c - medians and their confidence intervals.
 *
 * No distribution is assumed: timings have outliers on one side, two peaks when a clock steps, and
 * drift when a GPU warms up. The median is robust against these, and the probability that the
 * interval between two order statistics contains the true median follows from fair coin tosses
 * alone.
 */
#include "base/stats.h"
#include "base/util.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Returns a sorted copy, which the caller frees. NaN cannot be ordered. */
static double *sorted_copy(const double *values, size_t count)
{
    double *sorted = xmalloc(count * sizeof *sorted);

    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        assert(!isnan(values[i]));
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted;
}

static double sorted_quantile(const double *sorted, size_t count, double q)
{
    double at = fmin(fmax(q, 0), 1) * (double) (count - 1);
    size_t below = (size_t) at;
    double part = at - (double) below;

    if (part == 0)
        return sorted[below];
    return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double quantile(const double *values, size_t count, double q)
{
    double *sorted = sorted_copy(values, count);
    double result = sorted_quantile(sorted, count, q);

    free(sorted);
    return result;
}

double median(const double *values, size_t count)
{
    return quantile(values, count, 0.5);
}

/* The number of values below the true median is distributed like the number of heads in `count`
 * fair tosses. The interval from the k-th smallest to the k-th largest value misses the median if
 * there are fewer than k heads or fewer than k tails: with probability 2 P(heads < k). Returns the
 * largest k for which this is at most `miss`. Computed in logarithms, since a double cannot
 * represent 2^-count for more than 1074 values. */
size_t interval_rank(size_t count, double miss)
{
    double log_chance = -(double) count * log(2); /* of exactly k heads */
    double missed = 0;

    for (size_t k = 0; k < count; k++) {
        missed += 2 * exp(log_chance);
        if (missed > miss)
            return k ? k - 1 : 0;
        log_chance += log((double) (count - k) / (double) (k + 1));
    }
    return 0;
}

Interval median_interval(const double *values, size_t count, double miss)
{
    double *sorted = sorted_copy(values, count);
    size_t rank = interval_rank(count, miss);
    Interval interval = { sorted_quantile(sorted, count, 0.5), sorted[rank],
                          sorted[count - 1 - rank] };

    free(sorted);
    return interval;
}
