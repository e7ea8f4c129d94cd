/* formats.h - exports in other programs' formats, one function each. */
#ifndef GRADEBOOK_REPORT_FORMATS_H
#define GRADEBOOK_REPORT_FORMATS_H

#include <stdio.h>
#include "gradebook/report/export.h"
#include "gradebook/report/results_table.h"

typedef struct Export {
    Store *store;
    const ExportOptions *options;
    ResultsTable results;
    FILE *to;           /* for a format with a single file */
    const char *folder; /* for a format with several files */
    char problem[700];  /* an input that the format cannot use; then nothing is written */
} Export;

/* Single files with everything in the gradebook. */
void export_csv(Export *export);
void export_marks(Export *export); /* one row per student, CSV */
void export_alike(Export *export); /* pairs of kernels, CSV */
void export_json(Export *export);  /* docs/gradebook.schema.json */
void export_html(Export *export);  /* a page: tables, charts, what a human should check */

/* The distributions of marks and speeds, as SVG files (page_labs.c). */
void export_pictures(Export *export);

/* Files of a learning system, options->worksheet, with marks filled in. */
void export_moodle(Export *export);          /* Moodle's grading worksheet */
void export_canvas(Export *export);          /* Canvas's gradebook */
void export_moodle_feedback(Export *export); /* a zip with a page for each row's student */

/* One file per student, without other students' names or results. A lab whose marks are open
 * counts neither for nor against the score. index.csv names each student's file. */
void export_gradescope(Export *export); /* Gradescope's results.json */
void export_classroom(Export *export);  /* Classroom 50's result.json */

/* Feedback for each student, as text and HTML. */
void export_feedback(Export *export);
void feedback_page(Export *export, const Student *student, FILE *to);

#endif
