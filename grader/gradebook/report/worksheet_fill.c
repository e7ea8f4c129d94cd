/* worksheet_fill.c - fills a learning system's worksheet with marks. */
#include "gradebook/report/worksheet_fill.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LISTED = 20 };

bool fill_begin(Export *export, Filling *filling)
{
    *filling = (Filling){ .export = export, .excused = "" };
    if (!worksheet_read(export->options->worksheet, &filling->sheet, export->problem,
                        sizeof export->problem)) {
        worksheet_free(&filling->sheet);
        return false;
    }
    filling->student_of_row = xcalloc((size_t) filling->sheet.rows, sizeof(int));
    return true;
}

void fill_end(Filling *filling)
{
    worksheet_free(&filling->sheet);
    free(filling->student_of_row);
}

/* ---- Values ---- */

/* The marks of 100 that a column gets for a student. Returns false while they are open. */
static bool marks_for(const ResultsTable *results, const Student *student, int lab, double *marks)
{
    const Total total = results_total(results, student);

    if (lab >= 0) {
        *marks = student->labs[lab].marks;
        return student->labs[lab].has_marks;
    }
    *marks = marks_total(&total);
    return !total.open && total.weight > 0;
}

/* Fills one cell of a row. Returns false if it stays as it is. */
static bool fill_cell(Filling *filling, int row, const Target *target)
{
    const ResultsTable *results = &filling->export->results;
    const Student *student = &results->students[filling->student_of_row[row]];
    const int lab = target->lab < 0 && results->lab_count == 1 ? 0 : target->lab;
    double marks, most = target->most;
    char text[40];

    worksheet_text(&filling->sheet, row, target->column, text, sizeof text);
    if (is_in("EX N/A", text)) /* excused in Canvas, or not assigned to this student */
        return false;
    if (lab >= 0 && student->labs[lab].earned.excused && *filling->excused) {
        worksheet_set(&filling->sheet, row, target->column, filling->excused);
        return true;
    }
    if (!marks_for(results, student, lab, &marks))
        return false;
    if (most <= 0 && !worksheet_number(&filling->sheet, row, target->most_column, &most))
        most = 100;
    worksheet_set(&filling->sheet, row, target->column, PUT(text, "%.2f", marks * most / 100));
    return true;
}

/* Fills a row's columns. Returns false if any of them stays as it is. */
static bool fill_row(Filling *filling, int row)
{
    bool all = true;

    for (int i = 0; i < filling->target_count; i++)
        all &= fill_cell(filling, row, &filling->targets[i]);
    return all;
}

/* ---- What was not filled ---- */

typedef enum Gap { NOT_KNOWN, UNCLEAR, LEFT_OPEN, GAPS } Gap;

static const char *const gap_words[GAPS] = {
    [NOT_KNOWN] = "no student of the gradebook matches",
    [UNCLEAR] = "several students, or several rows, match",
    [LEFT_OPEN] = "left as it is, because marks are open or the student is excused",
};

static void list_gap(int *listed, const char *name, const char *why)
{
    if ((*listed)++ < LISTED)
        fprintf(stderr, "  %s: %s\n", name, why);
}

static void list_students_without_row(const Filling *filling, int *listed)
{
    const ResultsTable *results = &filling->export->results;
    bool *has_row = xcalloc((size_t) results->count + 1, sizeof *has_row);

    for (int row = filling->begin; row < filling->sheet.rows; row++)
        if (filling->student_of_row[row] >= 0)
            has_row[filling->student_of_row[row]] = true;
    for (int i = 0; i < results->count; i++)
        if (!has_row[i] &&
            filter_takes_student(&filling->export->options->filter, results->students[i].labs))
            list_gap(listed, results->students[i].name, "has no row in the worksheet");
    free(has_row);
}

/* True if the filter takes the student of this row. */
static bool is_chosen(const Filling *filling, int row)
{
    const Filter *filter = &filling->export->options->filter;
    int student = filling->student_of_row[row];

    return student < 0
               ? filter_is_everyone(filter)
               : filter_takes_student(filter, filling->export->results.students[student].labs);
}

/* Fills a row, or lists why not. */
static bool fill_or_list(Filling *filling, int row, const char *name, int *listed)
{
    int student = filling->student_of_row[row];
    Gap gap = student == NO_STUDENT ? NOT_KNOWN : student == UNCLEAR_STUDENT ? UNCLEAR : LEFT_OPEN;

    if (student >= 0 && fill_row(filling, row))
        return true;
    list_gap(listed, name, gap_words[gap]);
    return false;
}

void fill_rows(Filling *filling)
{
    int filled = 0, listed = 0, rows = 0;
    char name[FILL_TEXT];

    worksheet_match(filling->export->store, &filling->sheet, &filling->ids, filling->begin,
                    &filling->export->results, filling->student_of_row);
    for (int row = filling->begin; row < filling->sheet.rows; row++) {
        worksheet_text(&filling->sheet, row, filling->ids.name, name, sizeof name);
        if (!*name || !is_chosen(filling, row))
            continue;
        rows++;
        filled += fill_or_list(filling, row, name, &listed);
    }
    list_students_without_row(filling, &listed);
    if (listed > LISTED)
        fprintf(stderr, "  and %d more\n", listed - LISTED);
    fprintf(stderr, "%d of %d rows filled.\n", filled, rows);
}

/* ---- Columns ---- */

/* Canvas adds the assignment's number to its name: "Lab 6 (12345)". */
void fill_cut_number(char *title)
{
    char *open = strrchr(title, '(');

    if (open && open > title && open[1 + strspn(open + 1, "0123456789")] == ')' && open[1] != ')') {
        *open = 0;
        while (*title && title[strlen(title) - 1] == ' ')
            title[strlen(title) - 1] = 0;
    }
}

/* The column with this title, with or without Canvas's number; -1: none, -2: several. */
static int column_titled(const Worksheet *sheet, const char *title)
{
    char text[FILL_TEXT];
    int found = worksheet_column(sheet, title);

    for (int column = 0; found == -1 && column < sheet->columns; column++) {
        worksheet_text(sheet, 0, column, text, sizeof text);
        fill_cut_number(text);
        if (!strcasecmp(text, title))
            for (found = column, column++; column < sheet->columns; column++) {
                worksheet_text(sheet, 0, column, text, sizeof text);
                fill_cut_number(text);
                if (!strcasecmp(text, title))
                    return -2;
            }
    }
    return found;
}

/* Finds the column that --column names. */
bool fill_column_named(Export *export, const Worksheet *sheet, int *column)
{
    *column = column_titled(sheet, export->options->column);
    if (*column >= 0)
        return true;
    PUT(export->problem, "%s: %s column has the name '%s'", export->options->worksheet,
        *column == -1 ? "no" : "more than one", export->options->column);
    return false;
}

/* True if the chosen labs are one assignment: one lab, or several that --labs names. */
bool fill_is_one_assignment(Export *export)
{
    if (export->results.lab_count == 1 || export->options->filter.labs)
        return true;
    PUT(export->problem,
        "the gradebook has %d labs, but this column is one assignment: add --lab L, or --labs L,L "
        "for their weighted total",
        export->results.lab_count);
    return false;
}
