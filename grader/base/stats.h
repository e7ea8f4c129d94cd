/* stats.h - medians, and how sure we are of them. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

/* A median with an interval between two order statistics of the sample (binomial ranks), which
 * misses the true median with a chance of at most `miss`. Where there are too few values for that
 * (6 for 0.05, 8 for 0.0125) the interval is the whole range. */
typedef struct Interval {
    double median, lo, hi;
} Interval;

double median(const double *values, size_t count); /* count >= 1; values stay as they are */
double quantile(const double *values, size_t count, double q); /* linear between neighbours */
Interval median_interval(const double *values, size_t count, double miss);

/* Ranks (from 0) of the interval's ends among `count` sorted values: count - 1 - rank is the upper.
 */
size_t interval_rank(size_t count, double miss);

#endif
