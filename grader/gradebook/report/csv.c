/* csv.c - writes spreadsheet cells by RFC 4180. Texts are not trusted and cannot run as
 * formulas. */
#include "gradebook/report/csv.h"

#include <string.h>

enum { CELL_BYTES = 32000 }; /* an Excel cell holds 32767 characters */

/* A text that begins with one of these may run as a formula, even in full-width East Asian
 * characters. */
static const char *const formulas[] = { "=",  "+",  "-",  "@",  "\t", "\r",
                                        "\n", "＝", "＋", "－", "＠", NULL };

bool csv_is_formula(const char *text)
{
    for (int i = 0; formulas[i]; i++)
        if (!strncmp(text, formulas[i], strlen(formulas[i])))
            return true;
    return false;
}

/* Writes one cell. Inside it, a spreadsheet may begin a new cell at a line end, or at a semicolon,
 * which separates cells in German and French Excel. */
static void cell(FILE *to, const char *text)
{
    bool formula = csv_is_formula(text);
    bool quoted = formula || strpbrk(text, ",\"\n\r;\t");
    const char *end = text + strnlen(text, CELL_BYTES);

    while (*end && (*end & 0xC0) == 0x80) /* do not split a character */
        end--;
    if (quoted)
        fputc('"', to);
    if (formula)
        fputc('\'', to);
    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            fputc('"', to);
        fputc(*at, to);
        if (strchr(";\t\r\n", *at) && csv_is_formula(at + 1))
            fputc('\'', to);
    }
    fputs(*end ? " ..." : "", to);
    fputs(quoted ? "\"" : "", to);
}

void csv_text(FILE *to, const char *text)
{
    cell(to, text);
    fputc(',', to);
}

void csv_last(FILE *to, const char *text)
{
    cell(to, text);
    fputs("\r\n", to);
}

void csv_number(FILE *to, bool present, const char *format, double value)
{
    if (present)
        fprintf(to, format, value);
    fputc(',', to);
}
