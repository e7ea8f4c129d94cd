/* worksheet.h - a CSV file of a learning system that is filled and given back.
 *
 * Only the cells that are set change; all others are written byte for byte as they were read, since
 * the learning system compares them with its own.
 */
#ifndef GRADEBOOK_REPORT_WORKSHEET_H
#define GRADEBOOK_REPORT_WORKSHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Cell {
    size_t at, bytes; /* in the text, with its quotes */
    bool present;     /* false: the row ends before this cell */
    char set[24];     /* the new value; "": unchanged */
} Cell;

typedef struct Worksheet {
    char *text;
    bool has_mark;  /* begins with a byte-order mark */
    char separator; /* comma, semicolon or tab */
    const char *line_end;
    Cell *cells; /* rows x columns */
    int rows, columns;
} Worksheet;

/* Reads a file; row 0 has the names of the columns. On failure, returns false with `problem` set.
 */
bool worksheet_read(const char *path, Worksheet *sheet, char *problem, size_t size);
void worksheet_free(Worksheet *sheet);

/* The text of a cell, without quotes and blanks around it. Returns the buffer. */
char *worksheet_text(const Worksheet *sheet, int row, int column, char *text, size_t size);
/* The number in a cell, with a decimal point or comma. Returns false if there is none. */
bool worksheet_number(const Worksheet *sheet, int row, int column, double *number);
void worksheet_set(Worksheet *sheet, int row, int column, const char *text);

/* The column with this name, ignoring case; -1: none, -2: several. */
int worksheet_column(const Worksheet *sheet, const char *name);

/* Writes the columns for which `wanted` is true; NULL: all. */
void worksheet_write(const Worksheet *sheet, const bool *wanted, FILE *to);

#endif
