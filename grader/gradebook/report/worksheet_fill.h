/* worksheet_fill.h - fills a learning system's worksheet with marks.
 *
 * The instructor downloads the file, since only the learning system knows its own numbers of
 * students and assignments. Rows are filled if their student is clear; all others, and rows of
 * students whose marks are open, stay as they are.
 */
#ifndef GRADEBOOK_REPORT_WORKSHEET_FILL_H
#define GRADEBOOK_REPORT_WORKSHEET_FILL_H

#include "gradebook/report/formats.h"
#include "gradebook/report/worksheet.h"
#include "gradebook/report/worksheet_match.h"

enum { FILL_TEXT = 400, MOST_TARGETS = 64 };

/* A column to be filled. */
typedef struct Target {
    int column;
    int lab;     /* the lab whose marks it gets; -1: the weighted total of all chosen labs */
    double most; /* for full marks; 0: in the row's own cell of `most_column` */
    int most_column;
} Target;

typedef struct Filling {
    Export *export;
    Worksheet sheet;
    IdColumns ids;
    const char *excused; /* the word for an excused student; "": none */
    int begin;           /* the first row of a student */
    int *student_of_row;
    Target targets[MOST_TARGETS];
    int target_count;
} Filling;

/* Reads the worksheet. On failure, returns false with export->problem set. */
bool fill_begin(Export *export, Filling *filling);
void fill_end(Filling *filling);

/* Fills all rows, and lists on standard error what was not filled. */
void fill_rows(Filling *filling);

/* The column that --column names. On failure, returns false with export->problem set. */
bool fill_column_named(Export *export, const Worksheet *sheet, int *column);

/* True if the chosen labs are one assignment: one lab, or several that --labs names. On failure,
 * returns false with export->problem set. */
bool fill_is_one_assignment(Export *export);

/* Canvas adds the assignment's number to its title: "Lab 6 (12345)" becomes "Lab 6". */
void fill_cut_number(char *title);

#endif
