/* chart.h - small SVG charts of a lab's speeds. */
#ifndef GRADEBOOK_REPORT_CHART_H
#define GRADEBOOK_REPORT_CHART_H

#include "gradebook/report/markup.h"

/* Speeds relative to the reference's, ascending. */
typedef struct Speeds {
    const double *ratios; /* of correct, measured kernels */
    int count;
    int of;                /* the number of all students */
    double bar_lo, bar_hi; /* of the lab's timed cases */
} Speeds;

void chart_distribution(Page *page, const Speeds *speeds);
void chart_share_over(Page *page, const Speeds *speeds); /* fast_p, over p */

double share_at_least(const Speeds *speeds, double ratio); /* of all students, 0 to 1 */

#endif
