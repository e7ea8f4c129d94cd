/* worksheet_match.h - which row of a learning system's worksheet belongs to which student. */
#ifndef GRADEBOOK_REPORT_WORKSHEET_MATCH_H
#define GRADEBOOK_REPORT_WORKSHEET_MATCH_H

#include "gradebook/report/results_table.h"
#include "gradebook/report/worksheet.h"

enum { NO_STUDENT = -1, UNCLEAR_STUDENT = -2 };

/* The columns that identify a student. */
typedef struct IdColumns {
    int name;        /* the full name */
    int first, last; /* ids and e-mail addresses; a cell with a blank is neither */
    int participant; /* Moodle's number after a word: "Participant 5296"; -1: none */
} IdColumns;

/* Finds the student of each row, as an index in `results`, for rows from `begin` on. Ids, aliases
 * and e-mail addresses count first (store/people.h); ids of different students in one row make it
 * unclear. A name counts if it is unique in the worksheet and among the students without a row. */
void worksheet_match(Store *store, const Worksheet *sheet, const IdColumns *columns, int begin,
                     const ResultsTable *results, int *student_of_row);

#endif
