/* results_table.h - all results in memory: each student with all labs, for reports that need
 * several passes. */
#ifndef GRADEBOOK_REPORT_RESULTS_TABLE_H
#define GRADEBOOK_REPORT_RESULTS_TABLE_H

#include "gradebook/report/filter.h"

typedef struct Student {
    int64_t id;
    const char *name, *number;
    const Row *labs; /* one per lab, in order */
} Student;

typedef struct ResultsTable {
    Student *students;
    int count;
    const char **labs; /* their folders */
    int lab_count;
    Row *rows;
    int row_count, capacity;
} ResultsTable;

/* Reads the results that the filter takes; NULL: all. */
void results_read(Store *store, const Filter *filter, ResultsTable *results);
void results_free(ResultsTable *results);
void row_free(Row *row); /* its texts */

/* Sets `students` and `labs` from the rows and `lab_count`. */
void results_index(ResultsTable *results);

/* The weighted total of all labs; total.open: labs without marks so far. */
Total results_total(const ResultsTable *results, const Student *student);

/* The state as people read it: `excused` replaces whatever was handed in. */
const char *row_state(const Row *row);

/* True if a human should check this result before it is published. */
bool row_needs_review(const Row *row);

/* Warns on standard error if --quick has graded results whose marks are not decided: they are
 * rough. */
void results_warn_quick(const ResultsTable *results);

#endif
