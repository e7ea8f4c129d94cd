/* worksheet.c - a CSV file of a learning system that is filled and given back. */
#include "gradebook/report/worksheet.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHEET_BYTES = 32 << 20, SHEET_COLUMNS = 2000 };

/* ---- Reading ---- */

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* The character that separates the most cells of the first line. */
static char separator_of(const char *text)
{
    static const char candidates[] = ",;\t";
    char best = ',';
    int most = 0;

    for (const char *candidate = candidates; *candidate; candidate++) {
        int count = 0;
        for (const char *at = text; *at && *at != '\n'; at++)
            count += *at == *candidate;
        if (count > most) {
            most = count;
            best = *candidate;
        }
    }
    return best;
}

/* The end of the cell that begins at `at`. Returns NULL if a quote is not closed. */
static const char *cell_end(const char *at, char separator)
{
    bool quoted = false;

    for (; *at && (quoted || (*at != separator && *at != '\n' && *at != '\r')); at++)
        if (*at == '"')
            quoted = !quoted;
    return quoted ? NULL : at;
}

static const char *line_after(const char *at)
{
    if (*at == '\r')
        at++;
    if (*at == '\n')
        at++;
    return at;
}

/* Reads one line into `row`, which has room for sheet->columns cells; NULL: only counts them.
 * Returns the start of the next line; NULL if a quote is not closed. */
static const char *read_line(const Worksheet *sheet, const char *at, Cell *row, int *count)
{
    for (*count = 0;; at++) {
        const char *end = cell_end(at, sheet->separator);
        if (!end)
            return NULL;
        if (row && *count < sheet->columns)
            row[*count] = (Cell){ .at = (size_t) (at - sheet->text),
                                  .bytes = (size_t) (end - at),
                                  .present = true };
        ++*count;
        at = end;
        if (*at != sheet->separator)
            return line_after(at);
    }
}

static bool read_rows(Worksheet *sheet, const char *shown, char *problem, size_t size)
{
    const char *at = sheet->text + (sheet->has_mark ? strlen(byte_order_mark) : 0);
    int capacity = 0, count;
    Cell *row;

    while (at && *at) {
        if (!sheet->columns && !read_line(sheet, at, NULL, &sheet->columns))
            break;
        if (sheet->columns > SHEET_COLUMNS) {
            put(problem, size, "%s: more than %d columns", shown, SHEET_COLUMNS);
            return false;
        }
        if (sheet->rows == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            sheet->cells =
                xrealloc(sheet->cells, (size_t) capacity, (size_t) sheet->columns * sizeof(Cell));
        }
        row = &sheet->cells[(size_t) sheet->rows * (size_t) sheet->columns];
        memset(row, 0, (size_t) sheet->columns * sizeof *row);
        at = read_line(sheet, at, row, &count);
        if (at && count > sheet->columns) {
            put(problem, size, "%s: row %d has more cells than the first row", shown,
                sheet->rows + 1);
            return false;
        }
        sheet->rows += at != NULL;
    }
    if (!at || !sheet->columns || sheet->rows < 2)
        put(problem, size, "%s: %s", shown,
            at && sheet->columns ? "has no row after the names of its columns"
                                 : "is not a CSV file: a quote is not closed, or it is empty");
    return at && sheet->columns && sheet->rows > 1;
}

bool worksheet_read(const char *path, Worksheet *sheet, char *problem, size_t size)
{
    size_t bytes;

    *sheet = (Worksheet){ .text = read_file(path, SHEET_BYTES, &bytes) };
    if (!sheet->text) {
        put(problem, size, "%s: %s", path,
            errno == EFBIG ? "larger than 32 MiB: not a worksheet" : strerror(errno));
        return false;
    }
    if (strlen(sheet->text) != bytes) {
        put(problem, size, "%s: not a text: save it as CSV in UTF-8", path);
        return false;
    }
    sheet->has_mark = !strncmp(sheet->text, byte_order_mark, strlen(byte_order_mark));
    sheet->separator = separator_of(sheet->text);
    sheet->line_end = strstr(sheet->text, "\r\n") ? "\r\n" : "\n";
    return read_rows(sheet, path, problem, size);
}

void worksheet_free(Worksheet *sheet)
{
    free(sheet->text);
    free(sheet->cells);
    *sheet = (Worksheet){ 0 };
}

/* ---- Cells ---- */

static Cell *cell_at(const Worksheet *sheet, int row, int column)
{
    return &sheet->cells[(size_t) row * (size_t) sheet->columns + (size_t) column];
}

char *worksheet_text(const Worksheet *sheet, int row, int column, char *text, size_t size)
{
    const Cell *cell = cell_at(sheet, row, column);
    const char *at = sheet->text + cell->at, *end = at + cell->bytes;
    bool quoted = false;
    size_t used = 0;

    for (; at < end && used + 1 < size; at++) {
        if (*at == '"' && quoted && at + 1 < end && at[1] == '"') {
            text[used++] = *at++; /* two quotes in a quoted cell are one */
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (used || *at != ' ') {
            text[used++] = *at;
        }
    }
    while (used && text[used - 1] == ' ')
        used--;
    text[used] = 0;
    return text;
}

bool worksheet_number(const Worksheet *sheet, int row, int column, double *number)
{
    char text[40], *comma;

    worksheet_text(sheet, row, column, text, sizeof text);
    comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    return parse_number(text, 0, 1e9, number);
}

void worksheet_set(Worksheet *sheet, int row, int column, const char *text)
{
    PUT(cell_at(sheet, row, column)->set, "%s", text);
}

int worksheet_column(const Worksheet *sheet, const char *name)
{
    char text[400];
    int found = -1;

    for (int column = 0; column < sheet->columns; column++)
        if (!strcasecmp(worksheet_text(sheet, 0, column, text, sizeof text), name)) {
            if (found >= 0)
                return -2;
            found = column;
        }
    return found;
}

/* ---- Writing ---- */

/* The number of cells that a row is written with. */
static int width_of(const Worksheet *sheet, int row)
{
    int width = sheet->columns;

    while (width && !cell_at(sheet, row, width - 1)->present &&
           !*cell_at(sheet, row, width - 1)->set)
        width--;
    return width;
}

void worksheet_write(const Worksheet *sheet, const bool *wanted, FILE *to)
{
    if (sheet->has_mark)
        fputs(byte_order_mark, to);
    for (int row = 0; row < sheet->rows; row++) {
        bool begun = false;
        for (int column = 0; column < width_of(sheet, row); column++) {
            const Cell *cell = cell_at(sheet, row, column);
            if (wanted && !wanted[column])
                continue;
            if (begun)
                fputc(sheet->separator, to);
            begun = true;
            if (*cell->set)
                fputs(cell->set, to);
            else
                fwrite(sheet->text + cell->at, 1, cell->bytes, to);
        }
        fputs(sheet->line_end, to);
    }
}
