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

typedef struct Roll {
    Student *students;
    int count;
    const char **labs; /* their folders */
    int lab_count;
    Row *rows;
    int row_count, room;
} Roll;

void roll_read(Store *store, Roll *roll);
void roll_free(Roll *roll);

/* All labs by their weights; total.open: so many have marks still to come. */
Total roll_total(const Roll *roll, const Student *student);

#endif
