/* formats.h - exports in other programs' formats, one function each. */
#ifndef GRADEBOOK_REPORT_FORMATS_H
#define GRADEBOOK_REPORT_FORMATS_H

#include <stdio.h>
#include "gradebook/report/results_table.h"

typedef struct Export {
    Store *store;
    ResultsTable results;
    FILE *to;           /* for a format with a single file */
    const char *folder; /* for a format with one file per student */
} Export;

/* Single files with everything in the gradebook. */
void export_csv(Export *export);
void export_alike(Export *export); /* pairs of kernels, CSV */
void export_json(Export *export);  /* docs/gradebook.schema.json */
void export_html(Export *export);  /* a page: tables, charts, what a human should check */

/* One file per student, without other students' names or results. Students with incomplete marks
 * are left out, with a message. index.csv names each student's file. */
void export_gradescope(Export *export); /* Gradescope's results.json */
void export_classroom(Export *export);  /* Classroom 50's result.json */

/* Feedback for each student, as text and HTML, even if the student's marks are incomplete. */
void export_feedback(Export *export);

#endif
