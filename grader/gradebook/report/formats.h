/* formats.h - the gradebook in other programs' formats, one function each. */
#ifndef GRADEBOOK_REPORT_FORMATS_H
#define GRADEBOOK_REPORT_FORMATS_H

#include <stdio.h>
#include "gradebook/report/results_table.h"

typedef struct Export {
    Store *store;
    ResultsTable roll;
    FILE *to;           /* a format of one file */
    const char *folder; /* a format of one file a student */
} Export;

/* Of one file: all that the gradebook knows. */
void export_csv(Export *export);
void export_alike(Export *export); /* pairs of kernels, CSV */
void export_json(Export *export);  /* docs/gradebook.schema.json */
void export_html(Export *export);  /* a page: tables, charts, what a human should look at */

/* Of one file a student, without names or results of others; students whose marks are not all
 * there yet are left out, with a sentence. index.csv says whose file is whose. */
void export_gradescope(Export *export); /* Gradescope's results.json */
void export_classroom(Export *export);  /* Classroom 50's result.json */

/* The same for people, text and HTML; whoever is not wholly graded yet gets one, too. */
void export_feedback(Export *export);

#endif
