/* results_table.c - all results in memory: each student with all labs, for reports that need
 * several passes. */
#include "gradebook/report/results_table.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define NOT_A_TEXT(field, sql)
#define TEXT_AT(field, sql) offsetof(Row, field),

/* A row's texts, which are valid only until the database's next row. */
static const size_t texts[] = { ROW_COLUMNS(NOT_A_TEXT, NOT_A_TEXT, NOT_A_TEXT, TEXT_AT) };

enum { TEXTS = sizeof texts / sizeof *texts };

static char **text_of(Row *row, size_t i)
{
    return (char **) (void *) ((char *) row + texts[i]);
}

static void keep(ResultsTable *roll, Row row)
{
    if (roll->row_count == roll->room) {
        roll->room = roll->room ? 2 * roll->room : 256;
        roll->rows = xrealloc(roll->rows, (size_t) roll->room, sizeof(Row));
    }
    for (size_t i = 0; i < TEXTS; i++)
        *text_of(&row, i) = xstrdup(*text_of(&row, i));
    roll->rows[roll->row_count++] = row;
}

/* Every student has one row per lab, in the same order: gradebook/report/results_query.h. */
void results_read(Store *store, ResultsTable *roll)
{
    sqlite3_stmt *rows = rows_ask(store);
    Row row;

    *roll = (ResultsTable){ 0 };
    while (rows_next(store, rows, &row))
        keep(roll, row);
    while (roll->lab_count < roll->row_count &&
           roll->rows[roll->lab_count].student == roll->rows[0].student)
        roll->lab_count++;
    if (!roll->row_count)
        return;
    roll->count = roll->row_count / roll->lab_count;
    roll->students = xcalloc((size_t) roll->count, sizeof *roll->students);
    roll->labs = xcalloc((size_t) roll->lab_count, sizeof *roll->labs);
    for (int i = 0; i < roll->count; i++) {
        const Row *first = &roll->rows[i * roll->lab_count];
        roll->students[i] = (Student){ first->student, first->name, first->number, first };
    }
    for (int i = 0; i < roll->lab_count; i++)
        roll->labs[i] = roll->rows[i].lab;
}

void results_free(ResultsTable *roll)
{
    for (int i = 0; i < roll->row_count; i++)
        for (size_t k = 0; k < TEXTS; k++)
            free(*text_of(&roll->rows[i], k));
    free(roll->rows);
    free(roll->students);
    free(roll->labs);
    *roll = (ResultsTable){ 0 };
}

Total results_total(const ResultsTable *roll, const Student *student)
{
    Total total = { 0 };

    for (int i = 0; i < roll->lab_count; i++)
        marks_add(&total, student->labs[i].weight, &student->labs[i].earned);
    return total;
}
