/* stats.h - medians and their confidence intervals. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

/* A median with an interval between two order statistics of the sample (binomial ranks). The
 * interval misses the true median with a probability of at most `miss`. With too few values for
 * that (fewer than 6 for 0.05, 8 for 0.0125), the interval is the whole range. */
typedef struct Interval {
    double median, lo, hi;
} Interval;

double median(const double *values, size_t count); /* count >= 1; does not change `values` */
double quantile(const double *values, size_t count, double q); /* interpolated linearly */
Interval median_interval(const double *values, size_t count, double miss);

/* The rank (from 0) of the interval's lower end among `count` sorted values; count - 1 - rank is
 * that of the upper end. */
size_t interval_rank(size_t count, double miss);

#endif
