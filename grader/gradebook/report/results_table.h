/* results_table.h - all results in memory: each student with all labs, for reports that need
 * several passes. */
#ifndef GRADEBOOK_REPORT_RESULTS_TABLE_H
#define GRADEBOOK_REPORT_RESULTS_TABLE_H

#include "gradebook/report/results_query.h"

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

void results_read(Store *store, ResultsTable *results);
void results_free(ResultsTable *results);

/* The weighted total of all labs; total.open: labs without marks so far. */
Total results_total(const ResultsTable *results, const Student *student);

#endif
