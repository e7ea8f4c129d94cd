/* csv.h - spreadsheet cells by RFC 4180, safe against formulas. */
#ifndef GRADEBOOK_REPORT_CSV_H
#define GRADEBOOK_REPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

void csv_text(FILE *to, const char *text); /* and a comma */
void csv_last(FILE *to, const char *text); /* and the end of the line */
void csv_number(FILE *to, bool present, const char *format, double value);

#endif
