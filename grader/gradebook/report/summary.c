/* summary.c - the class as a table for a terminal: one line per student, one column per lab. */
#include "gradebook/report/summary.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 32, CELL = 12, LINE = 2000 };

/* ---- Names ---- */

static int columns_of(const char *text) /* characters, not bytes */
{
    int count = 0;

    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

/* Name and number, cut after NAME_COLUMNS characters. */
static void name_of(const Student *student, char text[300])
{
    char *at = text;

    put(text, 300, "%.200s%s%.60s%s", student->name, *student->number ? " (" : "", student->number,
        *student->number ? ")" : "");
    if (!strcmp(student->labs->status, "withdrawn"))
        append(text, 300, ", withdrawn");
    for (int count = 0; *at; at++)
        if ((*at & 0xC0) != 0x80 && count++ == NAME_COLUMNS)
            break;
    *at = 0;
}

static int widest_name(const ResultsTable *results)
{
    char name[300];
    int most = (int) strlen("student");

    for (int i = 0; i < results->count; i++) {
        int columns;
        name_of(&results->students[i], name);
        columns = columns_of(name);
        most = columns > most ? columns : most;
    }
    return most;
}

/* Prints a line without blanks at its end. */
static void print_line(char *line)
{
    size_t length = strlen(line);

    while (length && line[length - 1] == ' ')
        length--;
    printf("%.*s\n", (int) length, line);
}

/* ---- Cells ---- */

/* The marks, or the reason why there are none; then "!" if a human should check it, or "l" if it is
 * late. */
static void cell_of(const Row *row, char text[CELL])
{
    char sign = row_needs_review(row) ? '!' : row->is_late ? 'l' : ' ';

    if (row->excused)
        put(text, CELL, "excused%c", sign);
    else if (!strcmp(row->state, "withdrawn"))
        put(text, CELL, "-%c", sign);
    else if (is_in("missing unreadable", row->state) && row->has_marks && row->marks <= 0)
        put(text, CELL, "-%c", sign);
    else if (row->has_marks)
        put(text, CELL, "%.1f%c", row->marks, sign);
    else
        put(text, CELL, "%.7s%c", row->earned.open ? "open" : row->state, sign);
}

static void print_student(const ResultsTable *results, const Student *student, int width)
{
    const Total total = results_total(results, student);
    char line[LINE], name[300], cell[CELL];

    name_of(student, name);
    PUT(line, "%s%*s", name, width - columns_of(name), "");
    if (total.weight > 0)
        APPEND(line, "  %5.1f", marks_total(&total));
    else
        APPEND(line, "  %5s", "");
    for (int lab = 0; lab < results->lab_count; lab++) {
        cell_of(&student->labs[lab], cell);
        APPEND(line, " %7s", cell);
    }
    print_line(line);
}

/* ---- The class, per lab ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Of the kernels that were submitted. */
static void print_medians(const ResultsTable *results, int width)
{
    double *marks = xcalloc((size_t) results->count + 1, sizeof *marks);
    char line[LINE];

    PUT(line, "%-*s  %5s", width, "median", "");
    for (int lab = 0; lab < results->lab_count; lab++) {
        int count = 0;
        for (int i = 0; i < results->count; i++)
            if (results->students[i].labs[lab].has_marks && results->students[i].labs[lab].kernel)
                marks[count++] = results->students[i].labs[lab].marks;
        qsort(marks, (size_t) count, sizeof *marks, ascending);
        if (count)
            APPEND(line, " %6.1f ", (marks[(count - 1) / 2] + marks[count / 2]) / 2);
        else
            APPEND(line, " %7s", "");
    }
    print_line(line);
    free(marks);
}

static void print_passed(const ResultsTable *results, int width)
{
    char line[LINE];

    PUT(line, "%-*s  %5s", width, "passed", "");
    for (int lab = 0; lab < results->lab_count; lab++) {
        int count = 0;
        for (int i = 0; i < results->count; i++)
            count += is_in("pass close", row_state(&results->students[i].labs[lab]));
        APPEND(line, " %6d ", count);
    }
    print_line(line);
}

void summary_print(const ResultsTable *results)
{
    const int width = widest_name(results);
    char line[LINE];

    PUT(line, "%-*s  %5s", width, "student", "total");
    for (int lab = 0; lab < results->lab_count; lab++)
        APPEND(line, " %6.*s ", (int) strcspn(results->labs[lab], "_"), results->labs[lab]);
    print_line(line);
    for (int i = 0; i < results->count; i++)
        print_student(results, &results->students[i], width);
    if (results->count > 1) {
        print_medians(results, width);
        print_passed(results, width);
    }
    printf("\nMarks of 100; - nothing, l late, ! to be checked. Details: --student NAME, or "
           "--verbose.\n");
}
