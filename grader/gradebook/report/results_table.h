/* results_table.h - the sheet as a whole: each student with all labs, for reports that look at it
 * twice. */
#ifndef GRADEBOOK_REPORT_RESULTS_TABLE_H
#define GRADEBOOK_REPORT_RESULTS_TABLE_H

#include "gradebook/report/results_query.h"

typedef struct Student {
    int64_t id;
    const char *name, *number;
    const Row *labs; /* one for each of the roll's labs, in their order */
} Student;

typedef struct ResultsTable {
    Student *students;
    int count;
    const char **labs; /* their folders */
    int lab_count;
    Row *rows;
    int row_count, room;
} ResultsTable;

void results_read(Store *store, ResultsTable *roll);
void results_free(ResultsTable *roll);

/* All labs by their weights; total.open: so many have marks still to come. */
Total results_total(const ResultsTable *roll, const Student *student);

#endif
