/* chart.h - small SVG charts of a lab's speeds and marks. */
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

/* Marks of submissions, ascending; the missing ones only as a number. */
typedef struct MarksGiven {
    const double *list;
    int count, missing;
} MarksGiven;

/* Charts with a caption, for a page. They need at least one value. */
void chart_distribution(Page *page, const Speeds *speeds);
void chart_marks(Page *page, const MarksGiven *marks);
void chart_share_over(Page *page, const Speeds *speeds); /* fast_p, over p */

/* The same without a caption, for a file that begins with a title. */
void chart_file_begin(Page *page, FILE *to, const char *title);
void chart_draw_distribution(Page *page, const Speeds *speeds);
void chart_draw_marks(Page *page, const MarksGiven *marks);
void chart_file_end(Page *page);

double share_at_least(const Speeds *speeds, double ratio); /* of all students, 0 to 1 */

#endif
