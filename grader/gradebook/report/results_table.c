/* results_table.c - all results in memory: each student with all labs, for reports that need
 * several passes. */
#include "gradebook/report/results_table.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_A_TEXT(field, sql)
#define TEXT_AT(field, sql) offsetof(Row, field),

/* Offsets of a row's texts, which are valid only until the next row is read. */
static const size_t texts[] = { ROW_COLUMNS(NOT_A_TEXT, NOT_A_TEXT, NOT_A_TEXT, TEXT_AT) };

enum { TEXTS = sizeof texts / sizeof *texts };

static char **text_of(Row *row, size_t i)
{
    return (char **) (void *) ((char *) row + texts[i]);
}

static void keep(ResultsTable *results, Row row)
{
    if (results->row_count == results->capacity) {
        results->capacity = results->capacity ? 2 * results->capacity : 256;
        results->rows = xrealloc(results->rows, (size_t) results->capacity, sizeof(Row));
    }
    row.marks = row.marks < 100 ? fmin(row.marks, 99.9) : row.marks; /* never shown as 100.0 */
    for (size_t i = 0; i < TEXTS; i++)
        *text_of(&row, i) = xstrdup(*text_of(&row, i));
    results->rows[results->row_count++] = row;
}

void results_index(ResultsTable *results)
{
    free(results->students);
    free(results->labs);
    results->students = NULL;
    results->labs = NULL;
    results->count = results->lab_count ? results->row_count / results->lab_count : 0;
    if (!results->row_count)
        return;
    results->students = xcalloc((size_t) results->count, sizeof *results->students);
    results->labs = xcalloc((size_t) results->lab_count, sizeof *results->labs);
    for (int i = 0; i < results->count; i++) {
        const Row *first = &results->rows[i * results->lab_count];
        results->students[i] = (Student){ first->student, first->name, first->number, first };
    }
    for (int i = 0; i < results->lab_count; i++)
        results->labs[i] = results->rows[i].lab;
}

/* Every student has one row per lab, in the same order: gradebook/report/results_query.h. */
void results_read(Store *store, const Filter *filter, ResultsTable *results)
{
    sqlite3_stmt *rows = rows_ask(store);
    Row row;

    *results = (ResultsTable){ 0 };
    while (rows_next(store, rows, &row))
        if (!filter || (filter_takes_lab(filter, row.lab) && filter_takes_student(filter, &row)))
            keep(results, row);
    while (results->lab_count < results->row_count &&
           results->rows[results->lab_count].student == results->rows[0].student)
        results->lab_count++;
    results_index(results);
}

void row_free(Row *row)
{
    for (size_t i = 0; i < TEXTS; i++)
        free(*text_of(row, i));
}

void results_free(ResultsTable *results)
{
    for (int i = 0; i < results->row_count; i++)
        row_free(&results->rows[i]);
    free(results->rows);
    free(results->students);
    free(results->labs);
    *results = (ResultsTable){ 0 };
}

Total results_total(const ResultsTable *results, const Student *student)
{
    Total total = { 0 };

    for (int i = 0; i < results->lab_count; i++)
        marks_add(&total, student->labs[i].weight, &student->labs[i].earned);
    return total;
}

const char *row_state(const Row *row)
{
    return row->earned.excused ? "excused" : row->state;
}

void results_warn_quick(const ResultsTable *results)
{
    int count = 0;

    for (int i = 0; i < results->row_count; i++) {
        const Row *row = &results->rows[i];
        count += !strcmp(row->protocol, "quick") && !row->excused && !*row->decided;
    }
    if (count)
        fprintf(stderr,
                "%d result%s rough: graded with --quick. gradebook grade without --quick grades "
                "them again.\n",
                count, count == 1 ? " is" : "s are");
}

bool row_needs_review(const Row *row)
{
    if (row->excused || *row->decided)
        return row->decided_before;
    return *row->flag || (row->graded && row->earned.open) || !strcmp(row->state, "suspect") ||
           !strcmp(row->state, "not graded") || !strcmp(row->state, "unreadable");
}
